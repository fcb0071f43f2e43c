import { connect, isIP } from 'node:net';
import type { ConnectionOptions } from 'mysql2';

/**
 * Where to connect with TLS, so that the certificate is compared with the host. For an IP address mysql2 names no server, and Node then
 * compares the certificate with `localhost`. With a dot at its end mysql2 takes the address for a name; Node removes the dot and compares the
 * address. Should either of them change, the comparison fails and nothing is accepted.
 */
export function tlsAddress(host: string, port: number): ConnectionOptions {
  if (isIP(host) === 0) return { host, port };
  return { host: `${host}.`, port, stream: () => connect({ host, port, noDelay: true, keepAlive: true }) };
}
