import { isDeepStrictEqual } from 'node:util';
import { asQueueLockError, isBusy } from '../driver/errors.ts';
import { Observable } from '../base/rx.ts';

/** Those who look at something in the file: told what it is now, and again when it has changed. */
export class Observers {
  readonly #file: string;
  readonly #looks = new Map<() => void, (error: unknown) => void>();
  /** Those that rest, or found the file busy: there may be something that they have not seen. */
  readonly #due = new Set<() => void>();
  #soon: NodeJS.Immediate | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get size(): number {
    return this.#looks.size;
  }

  /** What `read` answers; reads are at least `apartMs` apart. Errors with what it throws. */
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

  /** Everybody looks. */
  look(): void {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    for (const look of [...this.#looks.keys()]) look();
  }

  /** Those look that could not when they should; for every round. */
  lookAgain(): void {
    for (const look of [...this.#due]) look();
  }

  /** In the next turn of the event loop: a crowd that comes and goes is not told one by one. */
  lookSoon(): void {
    if (this.#looks.size > 0) this.#soon ??= setImmediate(() => this.look());
  }

  /** There is nothing to look at any more. */
  fail(error: unknown): void {
    for (const fail of [...this.#looks.values()]) fail(error);
  }

  close(): void {
    clearImmediate(this.#soon);
    this.#looks.clear();
    this.#due.clear();
  }
}
