/** Count of the fields `#ttl`, `#generation`, `#inbox` and `#news` in a session's hash. */
const NOTES = 4;

/** Detects missed notifications and lost data of a session, by the number of its newest notification and the size of its hash. */
export class News {
  /** Number of the newest notification that this client knows of. */
  #newest: number;
  /** Number of the fields in the session's Redis hash that contain no entry, such as `#ttl`. */
  #notes = NOTES;

  constructor(newest: number) {
    this.#newest = newest;
  }

  /** Records that notification `nth` arrived. @returns whether earlier notifications may have been missed */
  received(nth: number): boolean {
    const isLate = nth > this.#newest + 1;
    this.#newest = Math.max(this.#newest, nth);
    return isLate;
  }

  /**
   * Records what a read of the session has returned: the number of the newest notification, and the count of
   * fields that are not entries.
   */
  recordRead(newest: number, notes: number): void {
    this.#newest = newest;
    this.#notes = notes;
  }

  /**
   * Returns whether this client has missed no notification about its session. Then the store's newest
   * notification has the number that this client knows, and the session has the expected number of fields in
   * the store.
   */
  isAsKnown(newest: number, fields: number, entries: number): boolean {
    return newest === this.#newest && fields === this.#notes + entries;
  }
}
