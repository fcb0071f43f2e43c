/** An entry of a queue, as far as its turn depends on it. */
export interface Standing {
  readonly ord: number;
  readonly shared: number;
  readonly lim: number;
  readonly permits: number;
  readonly admitted: number;
}

/** Permits that entries take, and those of the exclusive ones among them. */
export interface Taken {
  readonly all: number;
  readonly exclusive: number;
}

/** Whether an entry is admitted behind those that take so much: the one rule of every primitive. */
export function isAdmitted({ all, exclusive }: Taken, own: Omit<Standing, 'ord' | 'admitted'>): boolean {
  const conflicting = own.shared ? exclusive : all;
  return conflicting === 0 || conflicting + own.permits <= own.lim;
}

/**
 * Those whose turn it has become. `line` begins with the first one that waits and is read no further than somebody can be admitted:
 * once the exclusive entries leave nothing of the largest limit, all that follow wait. `ahead` is what those before it take.
 */
export function admissions(
  line: Iterable<Standing>,
  { ahead, largestLimit }: { readonly ahead: Taken; readonly largestLimit: number },
): readonly number[] {
  const admitted: number[] = [];
  let { all, exclusive } = ahead;
  for (const entry of line) {
    if (!entry.admitted && isAdmitted({ all, exclusive }, entry)) admitted.push(entry.ord);
    all += entry.permits;
    if (!entry.shared) exclusive += entry.permits;
    if (exclusive >= largestLimit) break;
  }
  return admitted;
}
