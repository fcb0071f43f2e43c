import type { FoundEntry } from '@queuelock/core/backend';

/** An entry of a session as the store has it, with its number in the queue. */
export interface Found extends FoundEntry {
  readonly ord: string;
}

/**
 * Parses the entries of a session in the replies of the scripts `look` and `resume`. They are a flat list:
 * number, admitted, entry and queue of each entry.
 */
export function foundIn(rows: readonly unknown[]): readonly Found[] {
  const found: Found[] = [];
  for (let at = 0; at < rows.length; at += 4) {
    const [ord, admitted, id, queue] = rows.slice(at, at + 4);
    found.push({
      ord: String(ord),
      admitted: admitted === 1,
      id: String(id),
      queue: String(queue),
    });
  }
  return found;
}
