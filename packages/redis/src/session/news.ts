/** `#ttl`, `#generation`, `#inbox`, `#news` */
const NOTES = 4;

/** How much the store has told a session, and how much it remembers of it: it shows what was missed. */
export class News {
  /** Number of the last one that was told, as far as is known. */
  #told: number;
  /** Of the fields that the store has of the session, those that are no entries. */
  #notes = NOTES;

  constructor(told: number) {
    this.#told = told;
  }

  /** News of that number came. @returns whether some before it may have been missed */
  heard(nth: number): boolean {
    const isLate = nth > this.#told + 1;
    this.#told = Math.max(this.#told, nth);
    return isLate;
  }

  /** As a look found it. */
  looked(told: number, notes: number): void {
    this.#told = told;
    this.#notes = notes;
  }

  /** Whether the store has told no more than was heard, forgotten nothing that it told, and has so many entries. */
  isAsKnown(told: number, fields: number, entries: number): boolean {
    return told === this.#told && fields === this.#notes + entries;
  }
}
