/**
 * The accepted writes (effects) to one resource under the lock of one queue. It stores numbers in columns, because a long run has millions of
 * effects.
 */
export class EffectLog {
  #size = 0;
  #sentAt = new Float64Array(64);
  #answeredAt = new Float64Array(64);
  #token = new BigInt64Array(64);
  #attempt = new Uint32Array(64);

  get size(): number {
    return this.#size;
  }

  /**
   * Adds an accepted write.
   * @param effect `attempt` is the index of the attempt among all attempts on the queue; times are in
   * nanoseconds of the run
   */
  add(effect: { sentAt: number; answeredAt: number; token: bigint; attempt: number }): void {
    const i = this.#size++;
    if (i === this.#sentAt.length) this.#grow();
    this.#sentAt[i] = effect.sentAt;
    this.#answeredAt[i] = effect.answeredAt;
    this.#token[i] = effect.token;
    this.#attempt[i] = effect.attempt;
  }

  /**
   * Reports every effect that was certainly late: the client sent it after another client got the reply to an
   * effect with a newer token. Leaves out effects that overlap in time, because their order is unknown.
   */
  eachLate(report: (late: LateEffect) => void): void {
    const bySent = this.#orderOf(this.#sentAt);
    const byResponse = this.#orderOf(this.#answeredAt);
    let answered = 0;
    let newest: number | undefined;
    for (const i of bySent) {
      for (; this.#at(this.#answeredAt, byResponse[answered]) < this.#at(this.#sentAt, i); answered++)
        newest = this.#newer(newest, byResponse[answered]);
      if (newest !== undefined && this.#tokenOf(newest) > this.#tokenOf(i)) report(this.#late(i, newest));
    }
  }

  #late(i: number, newer: number): LateEffect {
    return {
      attempt: this.#attempt[i] ?? 0,
      newerAttempt: this.#attempt[newer] ?? 0,
      sentAt: this.#at(this.#sentAt, i),
      token: this.#tokenOf(i),
      newerToken: this.#tokenOf(newer),
      lateNs: this.#at(this.#sentAt, i) - this.#at(this.#answeredAt, newer),
    };
  }

  #newer(a: number | undefined, b: number | undefined): number | undefined {
    if (a === undefined || b === undefined) return a ?? b;
    return this.#tokenOf(b) > this.#tokenOf(a) ? b : a;
  }

  #tokenOf(i: number): bigint {
    return this.#token[i] ?? 0n;
  }

  #at(column: Float64Array, i: number | undefined): number {
    return i === undefined ? Infinity : (column[i] ?? Infinity);
  }

  #orderOf(column: Float64Array): Uint32Array {
    const order = Uint32Array.from({ length: this.#size }, (_, i) => i);
    return order.sort((a, b) => (column[a] ?? 0) - (column[b] ?? 0));
  }

  #grow(): void {
    this.#sentAt = twice(this.#sentAt, Float64Array);
    this.#answeredAt = twice(this.#answeredAt, Float64Array);
    this.#token = twice(this.#token, BigInt64Array);
    this.#attempt = twice(this.#attempt, Uint32Array);
  }
}

/**
 * An effect that was sent after another client had got the reply to an effect with a newer token. Times are
 * in nanoseconds of the run.
 */
export interface LateEffect {
  readonly attempt: number;
  readonly newerAttempt: number;
  readonly sentAt: number;
  readonly token: bigint;
  readonly newerToken: bigint;
  readonly lateNs: number;
}

interface Column<T> {
  readonly length: number;
  set(other: T): void;
}

function twice<T extends Column<T>>(column: T, type: new (length: number) => T): T {
  const larger = new type(column.length * 2);
  larger.set(column);
  return larger;
}
