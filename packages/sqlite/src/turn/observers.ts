import { isDeepStrictEqual } from 'node:util';
import { asQueueLockError, isBusy } from '../driver/errors.ts';
import { Observable } from '../base/rx.ts';

/** The observers of values in the file. Each gets the present value, and the new one after each change. */
export class Observers {
  readonly #file: string;
  readonly #updates = new Map<() => void, (error: unknown) => void>();
  /** Observers that wait for their interval, or that found the file busy. They may have missed a change. */
  readonly #due = new Set<() => void>();
  #scheduled: NodeJS.Immediate | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get size(): number {
    return this.#updates.size;
  }

  /** Emits the result of `read`; reads are at least `apartMs` apart. Errors with what `read` throws. */
  watch<T>(read: () => T, apartMs = 0): Observable<T> {
    return new Observable((subscriber) => {
      let shown: { readonly value: T } | undefined;
      let nextReadAt = -Infinity;
      const update = (): void => {
        this.#due.add(update);
        if (performance.now() < nextReadAt) return;
        nextReadAt = performance.now() + apartMs;
        try {
          const value = read();
          this.#due.delete(update);
          if (shown && isDeepStrictEqual(shown.value, value)) return;
          shown = { value };
          subscriber.next(value);
        } catch (error) {
          if (!isBusy(error)) subscriber.error(asQueueLockError(error, this.#file));
        }
      };
      this.#updates.set(update, (error) => subscriber.error(error));
      subscriber.add(() => {
        this.#updates.delete(update);
        this.#due.delete(update);
      });
      update();
    });
  }

  /** Reads for all observers. */
  readAll(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    for (const update of [...this.#updates.keys()]) update();
  }

  /** Reads for the observers whose interval is over. Every poll calls it. */
  readDue(): void {
    for (const update of [...this.#due]) update();
  }

  /** Reads in the next turn of the event loop, so that many changes lead to one read. */
  readSoon(): void {
    if (this.#updates.size > 0) this.#scheduled ??= setImmediate(() => this.readAll());
  }

  /** Ends all observers, because the file was removed. */
  fail(error: unknown): void {
    for (const fail of [...this.#updates.values()]) fail(error);
  }

  close(): void {
    clearImmediate(this.#scheduled);
    this.#updates.clear();
    this.#due.clear();
  }
}
