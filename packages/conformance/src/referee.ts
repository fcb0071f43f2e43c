/** The data of a contender that the referee needs. */
export interface RefereedEntry {
  readonly queue: string;
  readonly order: bigint;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits: number;
  readonly admitted: boolean;
  /** Whether the entry leaves or was removed. From then on it blocks no other entries. */
  readonly leaving: boolean;
  /** Whether the promised time of the entry's session has not ended, so that only the owner may have removed the entry. */
  readonly promised: boolean;
}

/**
 * Whether the admission breaks the rule of all primitives: the conflicting entries ahead and the entry itself take at most
 * `limit` permits. An entry behind that was admitted under no higher limit counts too, because its admission broke the rule
 * before.
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

/** Checks every admission during a fact, in addition to the checks of the fact itself. */
export class Referee {
  readonly #others = new Set<RefereedEntry>();
  readonly #faults: string[] = [];
  #isUnsafe = false;

  /** Violations that were seen. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Whether one of the violations is about exclusion, order or tokens. */
  get isUnsafe(): boolean {
    return this.#isUnsafe;
  }

  joins(other: RefereedEntry): void {
    this.#others.add(other);
  }

  admits(other: RefereedEntry): void {
    if (!breaksRule(other, this.#others)) return;
    const fault = `entry ${other.order} was admitted while others were ahead or held`;
    // Without the entries whose sessions were not renewed in time, as on a stalled machine: those may have expired. If the rule is broken
    // nevertheless, the violation is unsafe.
    const sure = [...this.#others].filter(({ promised }) => promised);
    if (breaksRule(other, sure)) this.accuse(fault);
    else this.blame(fault);
  }

  /** Records an unsafe violation. */
  accuse(fault: string): void {
    this.#isUnsafe = true;
    this.blame(fault);
  }

  blame(fault: string): void {
    this.#faults.push(fault);
  }
}
