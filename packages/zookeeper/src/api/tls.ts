import { createSecureContext, type SecureContext } from 'node:tls';
import {
  FreshCredentials,
  checkedOptions,
  isFunction,
  providedByCaller,
  secureContextOf,
  valueOf,
  type KnownOptions,
  type Provided,
} from '@queuelock/core/backend';

/** Options of TLS. Certificates and keys are in PEM. */
export interface ZooKeeperTls {
  /** The certificates of the authorities that sign the servers' certificates. Default: the authorities that Node trusts. */
  readonly ca?: string | Buffer;
  /** The client certificate, for servers that require one. Requires `key`. Default: none. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name in the servers' certificates. Default: the name or address of each host. */
  readonly servername?: string;
}

/** Settings of a connection with TLS. */
export interface Tls {
  readonly secureContext: SecureContext;
  readonly servername: string | undefined;
}

const TLS_OPTIONS: KnownOptions<ZooKeeperTls> = { ca: 'any', cert: 'any', key: 'any', servername: 'string' };

/**
 * Checks the options of TLS and parses certificates and keys.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when a certificate or key is invalid, or the two do not match. The message does not contain
 *   them.
 */
export function tlsOf(options: ZooKeeperTls): Tls {
  const { ca, cert, key, servername } = checkedOptions('tls', options, TLS_OPTIONS);
  return { secureContext: secureContextOf({ ca, cert, key }, createSecureContext), servername };
}

/**
 * Returns the settings of TLS connections. If the options are given as a function, it is called again for
 * each connection.
 * @throws {QueueLockError} `INVALID_ARGUMENT`, as `tlsOf` throws it, when options that are not given as a
 *   function are invalid
 */
export function freshTlsOf(given: Provided<ZooKeeperTls>, withinMs: number): FreshCredentials<Tls> {
  const provided = providedByCaller(given);
  const isFixed = !isFunction(provided);
  const known = isFixed ? tlsOf(provided) : undefined;
  return new FreshCredentials({ withinMs, known, isFixed, read: async () => tlsOf(await valueOf(provided)) });
}
