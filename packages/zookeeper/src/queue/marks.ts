/** What stands before the number in the name of an entry of any kind, and who writes it. */
export const MARKS = {
  // What Curator's mutex and kazoo under its names read is the `lock-` at the end: to them it is one of theirs.
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

/** A mark and the number behind it, with which a name ends. */
export interface Marked {
  readonly mark: Mark;
  /** As the server appended it: a signed 32-bit number that wraps from 2147483647 to -2147483648. */
  readonly sequence: number;
  /** The number as it stands in the name. */
  readonly digits: string;
}

// The server writes `%010d`: ten digits, or a minus sign and nine or ten.
const MARKED = new RegExp(`(${Object.keys(MARKS).join('|')})(\\d{10}|-\\d{9,10})$`);

/** Whether somebody could take the name for that of an entry. */
export function looksLikeEntry(name: string): boolean {
  return MARKED.test(name);
}

/** Reads the end of a name, whatever stands before it; `undefined` for one that is no entry of any kind. */
export function parseMarked(name: string): Marked | undefined {
  const [, mark, digits] = MARKED.exec(name) ?? [];
  if (mark === undefined || digits === undefined) return undefined;
  const sequence = Number(digits);
  return sequence === (sequence | 0) ? { mark: mark as Mark, sequence, digits } : undefined;
}
