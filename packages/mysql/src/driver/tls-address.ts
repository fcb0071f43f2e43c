import { connect, isIP } from 'node:net';
import type { ConnectionOptions } from 'mysql2';

/**
 * Returns connection options for TLS with which the certificate is compared with the host. For an IP address, mysql2 passes no server name,
 * and Node would compare the certificate with `localhost`. With a dot at its end, mysql2 treats the address as a name. Node removes the dot
 * and compares the address. If mysql2 or Node changes this, the comparison fails and the connection is refused.
 */
export function tlsAddress(host: string, port: number): ConnectionOptions {
  if (isIP(host) === 0) return { host, port };
  return { host: `${host}.`, port, stream: () => connect({ host, port, noDelay: true, keepAlive: true }) };
}
