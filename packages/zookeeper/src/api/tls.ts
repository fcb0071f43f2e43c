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

/** With what TLS is done. Certificates and keys are in PEM. */
export interface ZooKeeperTls {
  /** Who has signed the servers' certificates. Default: the authorities that Node knows. */
  readonly ca?: string | Buffer;
  /** Shown to servers that ask for a certificate; together with its key. Default: none. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name in the servers' certificates. Default: the name or address of each host. */
  readonly servername?: string;
}

/** What a connection with TLS is made with. */
export interface Tls {
  readonly secureContext: SecureContext;
  readonly servername: string | undefined;
}

const TLS_OPTIONS: KnownOptions<ZooKeeperTls> = { ca: 'any', cert: 'any', key: 'any', servername: 'string' };

/** @throws {QueueLockError} `INVALID_ARGUMENT` for what is no certificate or key, or belongs to nothing; the message does not repeat it. */
export function tlsOf(options: ZooKeeperTls): Tls {
  const { ca, cert, key, servername } = checkedOptions('tls', options, TLS_OPTIONS);
  return { secureContext: secureContextOf({ ca, cert, key }, createSecureContext), servername };
}

/**
 * Returns what connections with TLS are made with, read again for each if it comes from a function.
 * @throws {QueueLockError} `INVALID_ARGUMENT` as `tlsOf`, for options that are no function
 */
export function freshTlsOf(given: Provided<ZooKeeperTls>, withinMs: number): FreshCredentials<Tls> {
  const provided = providedByCaller(given);
  const isFixed = !isFunction(provided);
  const known = isFixed ? tlsOf(provided) : undefined;
  return new FreshCredentials({ withinMs, known, isFixed, read: async () => tlsOf(await valueOf(provided)) });
}
