/**
 * Until when the beats of one session allow to believe in its holds, by the rule of the core:
 * deadline = sent + proven × 0.99 − margin, the latest of those that were confirmed so far.
 */
export class SessionProof {
  readonly #beats: { readonly at: number; readonly deadline: number }[] = [];
  #latest = new Float64Array();
  #runsOut = new Float64Array();

  /** All in nanoseconds. `at`: when it was confirmed. */
  add(at: number, deadline: number): void {
    this.#beats.push({ at, deadline });
  }

  /** Call once, when all beats are in. */
  settle(): void {
    this.#beats.sort((a, b) => a.at - b.at);
    this.#latest = new Float64Array(this.#beats.length);
    this.#runsOut = new Float64Array(this.#beats.length);
    let latest = -Infinity;
    for (const [i, beat] of this.#beats.entries()) this.#latest[i] = latest = Math.max(latest, beat.deadline);
    for (let i = this.#beats.length - 1; i >= 0; i--) this.#runsOut[i] = this.#runOutFrom(i);
  }

  /** A beat that is confirmed when the time is up prolongs nothing: what ran out stays so. */
  #runOutFrom(i: number): number {
    const deadline = this.#latest[i] ?? -Infinity;
    const next = this.#beats[i + 1];
    if (!next || next.at >= deadline) return deadline;
    return this.#runsOut[i + 1] ?? deadline;
  }

  /** When a hold that exists at `at` runs out of proof. `undefined`: nothing was proven by then. */
  runsOut(at: number): number | undefined {
    return this.#runsOut[this.#newestAt(at)];
  }

  /** Whether the entries of the session are proven to be alive at `at`. */
  proves(at: number): boolean {
    return (this.#latest[this.#newestAt(at)] ?? -Infinity) > at;
  }

  /** -1: none yet. */
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
