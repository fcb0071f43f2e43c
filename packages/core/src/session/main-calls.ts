// Calls from the heartbeat thread to functions of the main thread, such as one that returns a password.

import { detailOf } from '../api/errors.ts';

/** A call of the heartbeat thread: the name of a function, and a number that its result repeats. */
export interface CallOfThread {
  readonly call: string;
  readonly nth: number;
}

/** The result of a call, or the text of its error. */
export type ResultOfCall =
  | { readonly nth: number; readonly value: unknown }
  | { readonly nth: number; readonly failure: string };

/** Sends a message to the other thread. Throws if the message cannot be cloned. */
type Post<T> = (message: T) => void;

/** Main thread: calls the function, and sends its result to the heartbeat thread. Never rejects. */
export async function serveCall(
  { call, nth }: CallOfThread,
  functions: Readonly<Record<string, () => unknown>>,
  post: Post<ResultOfCall>,
): Promise<void> {
  try {
    const value: unknown = await functions[call]?.();
    post({ nth, value });
  } catch (error) {
    post({ nth, failure: detailOf(error) });
  }
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Heartbeat thread: the functions of the main thread. */
export class MainCalls {
  readonly #post: Post<CallOfThread>;
  readonly #isBlocked: () => boolean;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  /** @param isBlocked returns whether the main thread is known to be blocked. A call then rejects at once. */
  constructor(post: Post<CallOfThread>, isBlocked: () => boolean) {
    this.#post = post;
    this.#isBlocked = isBlocked;
  }

  /** Returns the functions of these names. The caller limits the time of a call: it is pending until the main thread responds. */
  functions(names: readonly string[]): Record<string, () => Promise<unknown>> {
    return Object.fromEntries(names.map((name) => [name, () => this.#call(name)]));
  }

  /** Settles the call whose result has arrived. */
  settle(result: ResultOfCall): void {
    const pending = this.#pending.get(result.nth);
    this.#pending.delete(result.nth);
    if ('failure' in result) pending?.reject(new Error(result.failure));
    else pending?.resolve(withBuffers(result.value));
  }

  #call(name: string): Promise<unknown> {
    if (this.#isBlocked()) return Promise.reject(new Error('the main thread is blocked'));
    return new Promise((resolve, reject) => {
      this.#calls += 1;
      this.#pending.set(this.#calls, { resolve, reject });
      this.#post({ call: name, nth: this.#calls });
    });
  }
}

/** Returns the value with each `Buffer` restored. A structured clone contains a `Uint8Array` in its place, which some clients refuse. */
export function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return value.map(withBuffers);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withBuffers(part)]));
}
