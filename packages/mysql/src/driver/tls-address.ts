import { connect, isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type { ConnectionOptions } from 'mysql2';

/**
 * Returns options for TLS with which Node compares the certificate with the host. For an IP address, mysql2
 * passes no server name, so Node would compare the certificate with `localhost`. So this function appends a
 * dot to the address: mysql2 then takes it for a host name, and Node removes the dot and compares the
 * address. If a later mysql2 or Node changes this, the comparison fails and the connection is refused.
 */
export function tlsAddress(host: string, port: number): ConnectionOptions {
  if (isIP(host) === 0) return { host, port };
  return { host: `${host}.`, port, stream: () => connect({ host, port, noDelay: true, keepAlive: true }) };
}

/**
 * Returns TLS options with which Node compares the certificate with the host before the password is sent. npm
 * mariadb passes the host to Node only after the login. Without these options Node would compare the
 * certificate for an IP address with `localhost`.
 */
export function tlsIdentity(host: string): Pick<TlsConnectionOptions, 'servername' | 'checkServerIdentity'> {
  return {
    ...(isIP(host) === 0 && { servername: host }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  };
}
