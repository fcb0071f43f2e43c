/** The columns of an entry that decide its admission. */
export interface QueuedEntry {
  readonly ord: number;
  readonly shared: number;
  readonly lim: number;
  readonly permits: number;
  readonly admitted: number;
}

/** The permits that entries take in total, and those of the exclusive entries among them. */
export interface TakenPermits {
  readonly all: number;
  readonly exclusive: number;
}

/** Returns whether an entry is admitted behind entries that take these permits. This rule applies to every primitive. */
export function isAdmitted(
  { all, exclusive }: TakenPermits,
  own: Omit<QueuedEntry, 'ord' | 'admitted'>,
): boolean {
  const conflicting = own.shared ? exclusive : all;
  return conflicting === 0 || conflicting + own.permits <= own.lim;
}

/**
 * Returns the entries that are newly admitted.
 * @param entries the entries from the first waiter on. It is read only as far as an entry can be admitted: once the exclusive entries use up the
 * largest limit, all later entries wait
 * @param ahead the permits that the entries before `entries` take
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
