import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Core } from './world.ts';

/** A change of the core: in this source file, this text, which stands there exactly once, becomes that one. */
export type Alteration = readonly [file: string, from: string, to: string];

const CORE = fileURLToPath(new URL('../..', import.meta.url));

/** The files that these change, as they are then. Throws if one does not fit the sources any more. */
export function alteredSources(alterations: readonly Alteration[]): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const [file, from, to] of alterations) {
    const text = sources.get(file) ?? readFileSync(join(CORE, 'src', file), 'utf8');
    const times = text.split(from).length - 1;
    if (times !== 1) throw new Error(`${file} has this ${String(times)} times, not once: ${from}`);
    sources.set(
      file,
      text.replace(from, () => to),
    );
  }
  return sources;
}

/** Loads a copy of the core with these changes; the real one stays as it is. */
export async function alteredCore(alterations: readonly Alteration[]): Promise<Core> {
  const copy = mkdtempSync(join(tmpdir(), 'queuelock-altered-core-'));
  try {
    cpSync(join(CORE, 'src'), join(copy, 'src'), { recursive: true });
    cpSync(join(CORE, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(CORE, 'node_modules'), join(copy, 'node_modules'));
    for (const [file, text] of alteredSources(alterations)) writeFileSync(join(copy, 'src', file), text);
    return (await import(pathToFileURL(join(copy, 'src/index.ts')).href)) as Core;
  } finally {
    rmSync(copy, { recursive: true });
  }
}
