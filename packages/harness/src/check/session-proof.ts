/**
 * Computes until when the confirmed heartbeats of one session prove its ownership. Each heartbeat proves the
 * session until a deadline: the time at which it was sent + the proven time × 0.99 − the safety margin. Of
 * the heartbeats confirmed so far, the latest deadline counts.
 */
export class SessionProof {
  readonly #beats: { readonly at: number; readonly deadline: number }[] = [];
  #latest = new Float64Array();
  #runsOut = new Float64Array();

  /**
   * Adds a confirmed heartbeat.
   * @param at time of the confirmation, in nanoseconds
   * @param deadline time until which the heartbeat proves ownership, in nanoseconds
   */
  add(at: number, deadline: number): void {
    this.#beats.push({ at, deadline });
  }

  /**
   * Prepares the calls of `runsOut` and `proves`. Call it once, after all heartbeats of the session were
   * added.
   */
  settle(): void {
    this.#beats.sort((a, b) => a.at - b.at);
    this.#latest = new Float64Array(this.#beats.length);
    this.#runsOut = new Float64Array(this.#beats.length);
    let latest = -Infinity;
    for (const [i, heartbeat] of this.#beats.entries())
      this.#latest[i] = latest = Math.max(latest, heartbeat.deadline);
    for (let i = this.#beats.length - 1; i >= 0; i--) this.#runsOut[i] = this.#runOutFrom(i);
  }

  /**
   * Returns the time, in nanoseconds, until which heartbeat `i` and the heartbeats after it prove the session
   * without a gap. A later heartbeat counts only if it was confirmed before the previous deadline.
   */
  #runOutFrom(i: number): number {
    const deadline = this.#latest[i] ?? -Infinity;
    const next = this.#beats[i + 1];
    if (!next || next.at >= deadline) return deadline;
    return this.#runsOut[i + 1] ?? deadline;
  }

  /**
   * Returns the time, in nanoseconds, until which heartbeats prove a hold that exists at the time `at`.
   * Returns `undefined` if no heartbeat was confirmed by then.
   */
  runsOut(at: number): number | undefined {
    return this.#runsOut[this.#newestAt(at)];
  }

  /** Returns whether a confirmed heartbeat proves at the time `at` that the entries of the session are alive. */
  proves(at: number): boolean {
    return (this.#latest[this.#newestAt(at)] ?? -Infinity) > at;
  }

  /** Returns the index of the last heartbeat that was confirmed at the time `at` or before; -1 if there is none. */
  #newestAt(at: number): number {
    let low = 0;
    let high = this.#beats.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#beats[middle]?.at ?? Infinity) <= at) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
