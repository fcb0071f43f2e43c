/** What the referee has to know of a contender. */
export interface Rival {
  readonly queue: string;
  readonly order: bigint;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits: number;
  readonly admitted: boolean;
  /** It gives up its place, or something took it away: from then on it is in nobody's way. */
  readonly leaving: boolean;
  /** What its session was last promised is not over: nothing but its owner may have ended it. */
  readonly promised: boolean;
}

/**
 * Whether the admission breaks the rule that every primitive rests on: the conflicting entries ahead and itself take at most
 * `limit` permits. One that is behind and was admitted under no higher limit counts too: whoever let it in has broken the
 * rule before.
 */
function breaksRule(admitted: Rival, rivals: Iterable<Rival>): boolean {
  const taken = [...rivals]
    .filter(
      (rival) =>
        rival !== admitted &&
        rival.queue === admitted.queue &&
        !rival.leaving &&
        !(rival.shared && admitted.shared) &&
        (rival.order < admitted.order || (rival.admitted && rival.limit <= admitted.limit)),
    )
    .reduce((sum, { permits }) => sum + permits, 0);
  return taken > 0 && taken + admitted.permits > admitted.limit;
}

/** Looks at every admission of a fact, whatever the fact itself looks at. */
export class Referee {
  readonly #rivals = new Set<Rival>();
  readonly #faults: string[] = [];
  #isUnsafe = false;

  /** What was seen that a backend must not do. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Whether one of the faults is about exclusion, order or tokens. */
  get isUnsafe(): boolean {
    return this.#isUnsafe;
  }

  joins(rival: Rival): void {
    this.#rivals.add(rival);
  }

  admits(rival: Rival): void {
    if (!breaksRule(rival, this.#rivals)) return;
    const fault = `entry ${rival.order} was admitted while others were ahead or held`;
    // Whose session was not renewed in time, as on a machine that stood still, may be gone.
    const sure = [...this.#rivals].filter(({ promised }) => promised);
    if (breaksRule(rival, sure)) this.accuse(fault);
    else this.blame(fault);
  }

  /** Of what is unsafe. */
  accuse(fault: string): void {
    this.#isUnsafe = true;
    this.blame(fault);
  }

  blame(fault: string): void {
    this.#faults.push(fault);
  }
}
