import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A change of a source file: replaces the text `from`, which must occur exactly once, by `to`. */
export type Alteration = readonly [file: string, from: string, to: string];

/**
 * Applies alterations to source files below `directory`, in memory. Returns the changed texts by file. Throws
 * if a text to replace does not occur exactly once in its file.
 */
export function alteredSources(
  alterations: readonly Alteration[],
  directory: string,
): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const [file, from, to] of alterations) {
    const text = sources.get(file) ?? readFileSync(join(directory, file), 'utf8');
    const times = text.split(from).length - 1;
    if (times !== 1) throw new Error(`${file} has this ${String(times)} times, not once: ${from}`);
    sources.set(
      file,
      text.replace(from, () => to),
    );
  }
  return sources;
}
