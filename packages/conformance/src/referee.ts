/** The properties of a contender's entry that the referee needs to check admissions. */
export interface RefereedEntry {
  readonly queue: string;
  readonly order: bigint;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits: number;
  readonly admitted: boolean;
  /** Whether the removal of the entry has begun or is done. Such an entry no longer blocks other entries. */
  readonly leaving: boolean;
  /**
   * Whether the store still promises to keep the entry's session. If so, only its own client or an operator
   * can have removed the entry.
   */
  readonly promised: boolean;
}

/**
 * Returns whether an admission breaks the rule for all locks and semaphores. The rule: the entry and the
 * conflicting entries ahead of it take at most `limit` permits together. An admitted entry behind it counts
 * like one ahead of it. An entry with a higher limit is the exception, because it may overtake.
 */
function breaksRule(admitted: RefereedEntry, others: Iterable<RefereedEntry>): boolean {
  const taken = [...others]
    .filter(
      (other) =>
        other !== admitted &&
        other.queue === admitted.queue &&
        !other.leaving &&
        !(other.shared && admitted.shared) &&
        (other.order < admitted.order || (other.admitted && other.limit <= admitted.limit)),
    )
    .reduce((sum, { permits }) => sum + permits, 0);
  return taken > 0 && taken + admitted.permits > admitted.limit;
}

/**
 * Checks every admission against the rule for all locks and semaphores, in addition to what the current fact
 * checks.
 */
export class Referee {
  readonly #others = new Set<RefereedEntry>();
  readonly #faults: string[] = [];
  #isUnsafe = false;

  /** The violations of the rule for admissions that were recorded so far. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Whether one of the recorded violations concerns mutual exclusion, order or tokens. */
  get isUnsafe(): boolean {
    return this.#isUnsafe;
  }

  joins(other: RefereedEntry): void {
    this.#others.add(other);
  }

  admits(other: RefereedEntry): void {
    if (!breaksRule(other, this.#others)) return;
    const fault = `entry ${other.order} was admitted while others were ahead or held`;
    // Ignores entries of sessions that the store no longer promises to keep, as on a stalled machine, because
    // the store may have removed them. If the admission breaks the rule even without these entries, it
    // violates mutual exclusion or order.
    const sure = [...this.#others].filter(({ promised }) => promised);
    if (breaksRule(other, sure)) this.accuse(fault);
    else this.blame(fault);
  }

  /** Records a violation of mutual exclusion, order or tokens. */
  accuse(fault: string): void {
    this.#isUnsafe = true;
    this.blame(fault);
  }

  blame(fault: string): void {
    this.#faults.push(fault);
  }
}
