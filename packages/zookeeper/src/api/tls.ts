import { createSecureContext, type SecureContext } from 'node:tls';
import { checkedOptions, invalidArgument, secureContextOf, type KnownOptions } from '@queuelock/core/backend';

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
  for (const [name, text] of Object.entries({ ca, cert, key }))
    if (text !== undefined && !String(text).includes('-----BEGIN '))
      throw invalidArgument(`tls.${name}`, '(not shown)', 'is in PEM');
  return { secureContext: secureContextOf({ ca, cert, key }, createSecureContext), servername };
}
