import { readFileSync } from 'node:fs';
import { invalidArgument } from './errors.ts';

const NAMES = ['ca', 'cert', 'key'] as const;

/** PEM files, as the parameters of a backend URL name them. */
export interface PemFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** What stands in them. */
export interface PemContents {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/**
 * Reads the files that are named.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for one that cannot be read, and for a certificate without its key or the other way round
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
