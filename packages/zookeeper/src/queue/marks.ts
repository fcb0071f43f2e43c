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
const ALL = Object.keys(MARKS) as Mark[];

/** The mark and the number with which the name of an entry ends. */
export interface Marked {
  readonly mark: Mark;
  /** The number that the server appended: a signed 32-bit number that wraps from 2147483647 to -2147483648. */
  readonly sequence: number;
  /** The place in the name at which the number begins. */
  readonly numberAt: number;
}

// `BY_CHARACTER` finds a mark by its third character from the end, since the last ones of all marks are only `-` and `_`.
const FROM_END = 3;
/** The marks by their third character from the end. Longer marks are first, since `shared-lock-` ends with `lock-`. */
const BY_CHARACTER: ReadonlyMap<number, readonly Mark[]> = new Map(
  ALL.map((mark) => mark.charCodeAt(mark.length - FROM_END)).map((code) => [
    code,
    ALL.filter((mark) => mark.charCodeAt(mark.length - FROM_END) === code).toSorted(
      (a, b) => b.length - a.length,
    ),
  ]),
);
// The server writes the number of a sequential node as `%010d`: ten digits, or a minus sign and nine or ten digits.
const SHORT_NUMBER = 10;
const LONG_NUMBER = 11;
const MINUS = 45;
const DIGIT_0 = 48;
const NO_MARKS: readonly Mark[] = [];

/** Returns whether any client could treat the name as an entry. */
export function resemblesEntry(name: string): boolean {
  return endOf(name) !== undefined;
}

/** Parses the end of a name, whatever comes before it. Returns `undefined` for a name that is not an entry of any kind. */
export function parseMarked(name: string): Marked | undefined {
  const end = endOf(name);
  return end && end.sequence === (end.sequence | 0) ? end : undefined;
}

/**
 * Parses the end of a name, whose number may exceed 32 bits. A waiter parses all names of its queue at each hand-off. So this uses no regular
 * expression, whose results were 40 % of the memory that a hand-off among 100 waiters allocated.
 */
function endOf(name: string): Marked | undefined {
  return endFrom(name, name.length - LONG_NUMBER) ?? endFrom(name, name.length - SHORT_NUMBER);
}

function endFrom(name: string, numberAt: number): Marked | undefined {
  const mark = markBefore(name, numberAt);
  if (mark === undefined) return undefined;
  const sequence = numberFrom(name, numberAt);
  return Number.isNaN(sequence) ? undefined : { mark, sequence, numberAt };
}

function markBefore(name: string, at: number): Mark | undefined {
  const marks = BY_CHARACTER.get(name.charCodeAt(at - FROM_END)) ?? NO_MARKS;
  for (const mark of marks) if (name.endsWith(mark, at)) return mark;
  return undefined;
}

/** Returns the number from `at` to the end of the name. Returns `NaN` if there is none. A number of `LONG_NUMBER` characters has a minus sign. */
function numberFrom(name: string, at: number): number {
  const isNegative = name.charCodeAt(at) === MINUS;
  if (!isNegative && name.length - at === LONG_NUMBER) return NaN;
  let number = 0;
  for (let i = isNegative ? at + 1 : at; i < name.length; i += 1) {
    const digit = name.charCodeAt(i) - DIGIT_0;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    number = number * 10 + digit;
  }
  return isNegative ? -number : number;
}
