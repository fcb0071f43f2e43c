import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { invalidArgument } from '../api/errors.ts';

const NAMES = ['ca', 'cert', 'key'] as const;

/** Paths of PEM files in the parameters of a backend URL. */
export interface PemFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Contents of the PEM files. */
export interface PemContents {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** The PEM texts of the option `tls` of a backend. */
export interface PemTexts {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

/**
 * Checks that a certificate and its key are given together.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function requireCertWithKey({ cert, key }: PemTexts): void {
  if ((cert === undefined) !== (key === undefined))
    throw invalidArgument('tls', cert === undefined ? 'key' : 'cert', 'has cert and key together');
}

/**
 * Checks that each text is in PEM, and that every part has its end line. Without this check, OpenSSL would ignore a half-written part in a list of
 * authorities. If no part is left, Node would trust its default authorities.
 * @throws {QueueLockError} `INVALID_ARGUMENT`; the message does not repeat the text
 */
export function requireWholePems(argument: string, texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined && !isWholePem(text))
      throw invalidArgument(`${argument}.${name}`, '(not shown)', 'is in PEM, with the end of each part');
}

const PEM_PART = /-----BEGIN ([^-\n]+)-----[\s\S]+?-----END \1-----/g;

function isWholePem(text: unknown): boolean {
  if (typeof text !== 'string' && !(text instanceof Uint8Array)) return false;
  const pem = typeof text === 'string' ? text : Buffer.from(text).toString();
  const parts = [...pem.matchAll(PEM_PART)];
  if (parts.length === 0 || parts.length !== pem.split('-----BEGIN ').length - 1) return false;
  return parts.every(([part, label]) => label !== 'CERTIFICATE' || isCertificate(part));
}

function isCertificate(part: string): boolean {
  try {
    return new X509Certificate(part).raw.length > 0;
  } catch {
    return false;
  }
}

/**
 * Creates a TLS context.
 * @param make `createSecureContext` of `node:tls`, passed in so that clients without TLS do not load that module
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an invalid certificate or key, or a key that does not match; the message does not repeat the texts
 */
export function secureContextOf<T>({ ca, cert, key }: PemTexts, make: (pems: PemTexts) => T): T {
  requireCertWithKey({ cert, key });
  requireWholePems('tls', { ca, cert, key });
  try {
    return make({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  } catch (error) {
    // The error message contains only the reason of the failure, because the PEM texts may be secrets.
    throw invalidArgument('tls', String(error), 'are PEM texts that belong together');
  }
}

/**
 * Reads the PEM files.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an unreadable file, a certificate without key, or a key without certificate
 */
export function readPems(files: PemFiles): PemContents {
  const named = NAMES.filter((name) => files[name] !== undefined);
  if (named.includes('cert') !== named.includes('key'))
    throw invalidArgument('backend URL', named.join(), 'has cert and key together');
  return Object.fromEntries(named.map((name) => [name, readPem(name, files[name] ?? '')]));
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const rule = `names a PEM file that can be read (${reason})`;
    throw invalidArgument(`backend URL parameter ${name}`, file, rule);
  }
}
