import { checkedRegisterKind, checkedRegisterText, type Register } from '@queuelock/core/backend';
import { Subject, defer, filter, map, merge, of, type Observable } from './rx.ts';

/** Registers by queue and kind. They outlive every session, and empty registers are not stored. */
export class RegisterStore {
  readonly #registers = new Map<string, Register>();
  readonly #written$ = new Subject<string>();
  #writes = 0;

  /** Number of registers that are not empty. */
  get count(): number {
    return this.#registers.size;
  }

  read(queue: string, kind: string): Register | undefined {
    return this.#registers.get(placeOf(queue, kind));
  }

  /** Writes or empties a register, as `Registers.write` specifies. */
  write(
    queue: string,
    kind: string,
    { text, was }: { readonly text: string | undefined; readonly was: string | undefined },
  ): boolean {
    const place = placeOf(queue, kind);
    if (text !== undefined) checkedRegisterText(text);
    if (this.#registers.get(place)?.version !== was) return false;
    if (text === undefined) this.#registers.delete(place);
    else this.#registers.set(place, { text, version: String(++this.#writes) });
    this.#written$.next(place);
    return true;
  }

  /** Emits a register (its text and version): at once, then after every write. */
  observe(queue: string, kind: string): Observable<Register | undefined> {
    return defer(() => {
      const place = placeOf(queue, kind);
      const written$ = this.#written$.pipe(filter((written) => written === place));
      // Emits the present value after subscribing to writes, so that a write that the observer makes in its
      // callback is emitted too.
      return merge(written$, of(place)).pipe(map(() => this.#registers.get(place)));
    });
  }
}

/**
 * Returns a key that is unique for each queue and kind. The kind comes first and contains no slash, so the
 * queue's name may contain slashes.
 */
function placeOf(queue: string, kind: string): string {
  return `${checkedRegisterKind(kind)}/${queue}`;
}
