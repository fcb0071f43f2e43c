import type { FoundEntry } from '@queuelock/core/backend';

/** An entry of a session as stored. */
export interface Found extends FoundEntry {
  readonly ord: string;
}

/** Parses the result of the step `look` (a read of all entries), a flat list of number, admitted, entry and queue for each entry. */
export function foundIn(rows: readonly unknown[]): readonly Found[] {
  const found: Found[] = [];
  for (let at = 0; at < rows.length; at += 4) {
    const [ord, admitted, id, queue] = rows.slice(at, at + 4);
    found.push({ ord: String(ord), admitted: admitted === 1, id: String(id), queue: String(queue) });
  }
  return found;
}
