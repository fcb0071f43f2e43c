import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { alteredSources, type Alteration } from '@queuelock/harness/alteration';
import type { Core } from './world.ts';

const CORE = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Applies changes (alterations) to the source code of the core, in memory only. Returns the texts of the
 * changed files by their paths.
 */
export function alteredCoreSources(alterations: readonly Alteration[]): ReadonlyMap<string, string> {
  return alteredSources(alterations, join(CORE, 'src'));
}

/**
 * Copies the core, applies changes (alterations) to the source code of the copy, and loads the copy. The
 * source code of the core itself stays unchanged.
 */
export async function alteredCore(alterations: readonly Alteration[]): Promise<Core> {
  const copy = mkdtempSync(join(tmpdir(), 'queuelock-altered-core-'));
  try {
    cpSync(join(CORE, 'src'), join(copy, 'src'), { recursive: true });
    cpSync(join(CORE, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(CORE, 'node_modules'), join(copy, 'node_modules'));
    for (const [file, text] of alteredCoreSources(alterations)) writeFileSync(join(copy, 'src', file), text);
    return (await import(pathToFileURL(join(copy, 'src/index.ts')).href)) as Core;
  } finally {
    rmSync(copy, { recursive: true });
  }
}
