import { isDeepStrictEqual } from 'node:util';
import { asQueueLockError, isBusy } from '../driver/errors.ts';
import { Observable } from '../base/rx.ts';

/** The observers of the file: each emits a value that is read from the file, now and after each change. */
export class Observers {
  readonly #file: string;
  readonly #updates = new Map<() => void, (error: unknown) => void>();
  /**
   * Observers that still have to read: their minimum interval between reads is not over, or the file was
   * locked.
   */
  readonly #due = new Set<() => void>();
  #scheduled: NodeJS.Immediate | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get size(): number {
    return this.#updates.size;
  }

  /**
   * Emits the result of `read` and each changed result. Reads at most once in `apartMs` milliseconds. Ends
   * with the error that `read` throws.
   */
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

  /** Makes all observers read. */
  readAll(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    for (const update of [...this.#updates.keys()]) update();
  }

  /**
   * Makes those observers read that still have to, if their minimum interval between reads is over. Called at
   * each poll of the file.
   */
  readDue(): void {
    for (const update of [...this.#due]) update();
  }

  /**
   * Makes all observers read in the next turn of the event loop, so that many changes cause only one read.
   */
  readSoon(): void {
    if (this.#updates.size > 0) this.#scheduled ??= setImmediate(() => this.readAll());
  }

  /** Ends all observers with an error, because the file was removed. */
  fail(error: unknown): void {
    for (const fail of [...this.#updates.values()]) fail(error);
  }

  close(): void {
    clearImmediate(this.#scheduled);
    this.#updates.clear();
    this.#due.clear();
  }
}
