/** The marks in the names of entries. A mark precedes the number, and shows the kind of the entry and the software that created it. */
export const MARKS = {
  // Curator's mutex (and kazoo, if it uses Curator's names) treats every name with `lock-` as an entry. The
  // mark `shared-lock-` ends with `lock-`, so the mutex waits for the readers of this package.
  'shared-lock-': {
    of: 'the readers of @queuelock/zookeeper beside Curator’s InterProcessMutex',
    naming: 'curator',
  },
  'lock-': { of: 'Curator’s InterProcessMutex or LeaderSelector', naming: 'curator' },
  __WRIT__: { of: 'the writers of Curator’s InterProcessReadWriteLock', naming: 'curator-read-write' },
  __READ__: { of: 'the readers of Curator’s InterProcessReadWriteLock', naming: 'curator-read-write' },
  'latch-': { of: 'Curator’s LeaderLatch', naming: 'curator-latch' },
  'lease-': { of: 'the leases of Curator’s InterProcessSemaphoreV2', naming: 'curator-lease' },
  __lock__: { of: 'kazoo’s Lock, WriteLock or Election', naming: 'kazoo' },
  __fast__: { of: 'the naming "fast" of @queuelock/zookeeper', naming: 'fast' },
  __rlock__: { of: 'kazoo’s ReadLock', naming: 'kazoo' },
} as const;

export type Mark = keyof typeof MARKS;

/** The mark and the number with which the name of an entry ends. */
export interface Marked {
  readonly mark: Mark;
  /** The number that the server appended: a signed 32-bit number that wraps from 2147483647 to -2147483648. */
  readonly sequence: number;
  /** The number as text, as written in the entry's name. */
  readonly digits: string;
}

// The server writes the number of a sequential node as `%010d`: ten digits, or a minus sign and nine or ten
// digits.
const MARKED = new RegExp(`(${Object.keys(MARKS).join('|')})(\\d{10}|-\\d{9,10})$`);

/** Returns whether any client could treat the name as an entry. */
export function resemblesEntry(name: string): boolean {
  return MARKED.test(name);
}

/** Parses the end of a name, whatever comes before it. Returns `undefined` for a name that is not an entry of any kind. */
export function parseMarked(name: string): Marked | undefined {
  const [, mark, digits] = MARKED.exec(name) ?? [];
  if (mark === undefined || digits === undefined) return undefined;
  const sequence = Number(digits);
  return sequence === (sequence | 0) ? { mark: mark as Mark, sequence, digits } : undefined;
}
