import { createSecureContext, type ConnectionOptions } from 'node:tls';
import {
  checkedOptions,
  invalidArgument,
  requireCertWithKey,
  secureContextOf,
  type KnownOptions,
} from '@queuelock/core/backend';

const MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** Certificates and key for TLS, as PEM texts. */
export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

const TLS_OPTIONS: KnownOptions<TlsOptions> = { ca: 'any', cert: 'any', key: 'any' };

/**
 * Returns the TLS options for an `sslmode` of libpq. `require` encrypts and, without a `ca`, trusts any server. `verify-ca` also verifies the
 * certificate, and `verify-full` also the host name in it. @throws {QueueLockError} `INVALID_ARGUMENT` for an unknown mode or invalid PEM texts
 */
export function tlsOf(sslmode: string | undefined, pems: TlsOptions): false | ConnectionOptions {
  const { ca, cert, key } = checkedOptions('tls', pems, TLS_OPTIONS);
  const isGiven = ca !== undefined || cert !== undefined || key !== undefined;
  const mode = sslmode ?? (isGiven ? 'verify-full' : 'disable');
  if (!MODES.includes(mode)) {
    const rule = `is one of ${MODES.join(', ')}: what may be encrypted or not protects nobody`;
    throw invalidArgument('sslmode', mode, rule);
  }
  requireCertWithKey({ cert, key });
  if (mode === 'disable') {
    if (isGiven) throw invalidArgument('sslmode', mode, 'is not disable when there are certificates');
    return false;
  }
  const given = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  secureContextOf(given, createSecureContext);
  const isChecked = mode !== 'require' || ca !== undefined;
  return {
    ...given,
    rejectUnauthorized: isChecked,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}
