import { readFileSync } from 'node:fs';
import { invalidArgument } from '@queuelock/core/backend';
import type { ZooKeeperTls } from './tls.ts';

const NAMES = ['ca', 'cert', 'key'] as const;

/** PEM files, as a URL names them. */
export type TlsFiles = Readonly<Partial<Record<(typeof NAMES)[number], string | undefined>>>;

/** @throws {QueueLockError} `INVALID_ARGUMENT` for a file that cannot be read */
export function readTls(files: TlsFiles): ZooKeeperTls {
  const tls: { -readonly [Name in keyof TlsFiles]: Buffer } = {};
  for (const name of NAMES) {
    const file = files[name];
    if (file !== undefined) tls[name] = readPem(name, file);
  }
  return tls;
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalidArgument(
      `backend URL parameter ${name}`,
      file,
      `names a PEM file that can be read (${reason})`,
    );
  }
}
