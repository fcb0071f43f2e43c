/** Count of the fields `#ttl`, `#generation`, `#inbox` and `#news` in a session's hash. */
const NOTES = 4;

/** Detects missed notifications and lost data of a session, by the number of its newest notification and the size of its hash. */
export class News {
  /** Number of the newest notification that this client knows of. */
  #told: number;
  /** Count of the fields in the session's hash that are not entries. */
  #notes = NOTES;

  constructor(told: number) {
    this.#told = told;
  }

  /** Records that notification `nth` arrived. @returns whether earlier ones may have been missed */
  heard(nth: number): boolean {
    const isLate = nth > this.#told + 1;
    this.#told = Math.max(this.#told, nth);
    return isLate;
  }

  /** Records the counts that a read of the session found. */
  looked(told: number, notes: number): void {
    this.#told = told;
    this.#notes = notes;
  }

  /** Returns whether no notification was missed, the store lost none that it had sent, and it has this many entries of the session. */
  isAsKnown(told: number, fields: number, entries: number): boolean {
    return told === this.#told && fields === this.#notes + entries;
  }
}
