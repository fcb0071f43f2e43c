import type { ConnectionOptions } from 'node:tls';
import { invalidArgument, type PemTexts } from '@queuelock/core/backend';

/** Certificates and key for TLS, as PEM texts. */
export type TlsOptions = PemTexts;

const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/** The values of libpq's parameter `sslmode` that queuelock accepts. */
export type SslMode = (typeof MODES)[number];

/**
 * Returns the `sslmode` of a server.
 * @param hasPems whether there are certificates, which set the default `verify-full`
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an unknown mode, and for certificates without TLS
 */
export function sslModeOf(sslmode: string | undefined, hasPems: boolean): SslMode {
  const wanted = sslmode ?? (hasPems ? 'verify-full' : 'disable');
  const mode = MODES.find((known) => known === wanted);
  if (mode === undefined) {
    const rule = `is one of ${MODES.join(', ')}: modes that allow an unencrypted connection protect nothing`;
    throw invalidArgument('sslmode', wanted, rule);
  }
  if (mode === 'disable' && hasPems)
    throw invalidArgument('sslmode', mode, 'is not disable when there are certificates');
  return mode;
}

/**
 * Returns the TLS options for a connection. `require` encrypts and, without a `ca`, trusts any server. `verify-ca` also verifies the
 * certificate, and `verify-full` also the host name in it.
 */
export function tlsOf(mode: SslMode, { ca, cert, key }: TlsOptions): false | ConnectionOptions {
  if (mode === 'disable') return false;
  const isChecked = mode !== 'require' || ca !== undefined;
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: isChecked,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}
