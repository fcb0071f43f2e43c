/** The columns of an entry that decide its admission. */
export interface QueuedEntry {
  readonly ord: number;
  readonly shared: number;
  readonly lim: number;
  readonly permits: number;
  readonly admitted: number;
}

/** The sum of the permits of some entries, and the part of it that belongs to exclusive entries. */
export interface TakenPermits {
  readonly all: number;
  readonly exclusive: number;
}

/**
 * Returns whether an entry is admitted, given the permits of all entries ahead of it. The function applies to exclusive and shared locks and to
 * semaphores.
 */
export function isAdmitted(
  { all, exclusive }: TakenPermits,
  own: Omit<QueuedEntry, 'ord' | 'admitted'>,
): boolean {
  const conflicting = own.shared ? exclusive : all;
  return conflicting === 0 || conflicting + own.permits <= own.lim;
}

/**
 * Returns the order numbers of the entries that a change of the queue admits.
 * @param entries the queue from its first waiter on. When the permits of exclusive entries reach `largestLimit`, the largest limit of any entry, no
 *   later entry can be admitted, so no more entries are read
 * @param ahead the permits of the entries ahead of `entries`
 */
export function admissions(
  entries: Iterable<QueuedEntry>,
  { ahead, largestLimit }: { readonly ahead: TakenPermits; readonly largestLimit: number },
): readonly number[] {
  const admitted: number[] = [];
  let { all, exclusive } = ahead;
  for (const entry of entries) {
    if (!entry.admitted && isAdmitted({ all, exclusive }, entry)) admitted.push(entry.ord);
    all += entry.permits;
    if (!entry.shared) exclusive += entry.permits;
    if (exclusive >= largestLimit) break;
  }
  return admitted;
}
