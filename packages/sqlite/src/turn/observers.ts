import { isDeepStrictEqual } from 'node:util';
import { asQueueLockError, isBusy } from '../driver/errors.ts';
import { Observable } from '../base/rx.ts';

/** The observers of values in the file. Each gets the present value, and the new one after each change. */
export class Observers {
  readonly #file: string;
  readonly #looks = new Map<() => void, (error: unknown) => void>();
  /** Observers that wait for their interval, or that found the file busy. They may have missed a change. */
  readonly #due = new Set<() => void>();
  #soon: NodeJS.Immediate | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get size(): number {
    return this.#looks.size;
  }

  /** Emits the result of `read`; reads are at least `apartMs` apart. Errors with what `read` throws. */
  watch<T>(read: () => T, apartMs = 0): Observable<T> {
    return new Observable((subscriber) => {
      let shown: { readonly value: T } | undefined;
      let restsUntil = -Infinity;
      const look = (): void => {
        this.#due.add(look);
        if (performance.now() < restsUntil) return;
        restsUntil = performance.now() + apartMs;
        try {
          const value = read();
          this.#due.delete(look);
          if (shown && isDeepStrictEqual(shown.value, value)) return;
          shown = { value };
          subscriber.next(value);
        } catch (error) {
          if (!isBusy(error)) subscriber.error(asQueueLockError(error, this.#file));
        }
      };
      this.#looks.set(look, (error) => subscriber.error(error));
      subscriber.add(() => {
        this.#looks.delete(look);
        this.#due.delete(look);
      });
      look();
    });
  }

  /** Reads for all observers. */
  look(): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    for (const look of [...this.#looks.keys()]) look();
  }

  /** Reads for the observers that are due; called in every round. */
  lookAgain(): void {
    for (const look of [...this.#due]) look();
  }

  /** Reads in the next turn of the event loop, so that many changes lead to one read. */
  lookSoon(): void {
    if (this.#looks.size > 0) this.#soon ??= setImmediate(() => this.look());
  }

  /** Ends all observers, because the file was removed. */
  fail(error: unknown): void {
    for (const fail of [...this.#looks.values()]) fail(error);
  }

  close(): void {
    clearImmediate(this.#soon);
    this.#looks.clear();
    this.#due.clear();
  }
}
