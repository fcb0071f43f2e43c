/**
 * Time until which the heartbeats of one session allow its holds, by the rule of the core: deadline = sent + proven × 0.99 −
 * margin, the latest of those that were confirmed so far.
 */
export class SessionProof {
  readonly #beats: { readonly at: number; readonly deadline: number }[] = [];
  #latest = new Float64Array();
  #runsOut = new Float64Array();

  /** Adds a confirmed heartbeat. All values are in nanoseconds; `at` is the time of the confirmation. */
  add(at: number, deadline: number): void {
    this.#beats.push({ at, deadline });
  }

  /** Completes the proof. Call it once, after all heartbeats. */
  settle(): void {
    this.#beats.sort((a, b) => a.at - b.at);
    this.#latest = new Float64Array(this.#beats.length);
    this.#runsOut = new Float64Array(this.#beats.length);
    let latest = -Infinity;
    for (const [i, beat] of this.#beats.entries()) this.#latest[i] = latest = Math.max(latest, beat.deadline);
    for (let i = this.#beats.length - 1; i >= 0; i--) this.#runsOut[i] = this.#runOutFrom(i);
  }

  /** Returns when the proof ends that begins with a heartbeat. A heartbeat that is confirmed after the deadline extends nothing. */
  #runOutFrom(i: number): number {
    const deadline = this.#latest[i] ?? -Infinity;
    const next = this.#beats[i + 1];
    if (!next || next.at >= deadline) return deadline;
    return this.#runsOut[i + 1] ?? deadline;
  }

  /** Returns when the proof of a hold that exists at `at` ends; `undefined` if nothing was proven by then. */
  runsOut(at: number): number | undefined {
    return this.#runsOut[this.#newestAt(at)];
  }

  /** Returns whether the entries of the session are proven to be alive at `at`. */
  proves(at: number): boolean {
    return (this.#latest[this.#newestAt(at)] ?? -Infinity) > at;
  }

  /** Returns the index of the newest heartbeat at that time; -1 if there is none. */
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
