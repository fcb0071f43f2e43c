import { connect, isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions as TlsConnectionOptions } from 'node:tls';
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

/**
 * Returns TLS options with which the certificate is compared with the host before anything is sent. npm mariadb passes the host to Node only after the
 * login. Without these options Node would compare the certificate for an IP address with `localhost`.
 */
export function tlsIdentity(host: string): Pick<TlsConnectionOptions, 'servername' | 'checkServerIdentity'> {
  return {
    ...(isIP(host) === 0 && { servername: host }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  };
}
