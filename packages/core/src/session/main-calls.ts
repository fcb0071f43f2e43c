// Calls from the heartbeat thread to functions of the main thread, such as one that returns a password.

import { detailOf } from '../api/errors.ts';

type Functions = Readonly<Record<string, () => unknown>>;

/** A call of the heartbeat thread: the name of a function, and the number of the call. */
export interface CallOfThread {
  readonly call: string;
  readonly nth: number;
}

/** The result of a call, or the text of its error. */
export type ResultOfCall = CallOfThread & ({ readonly value: unknown } | { readonly failure: string });

/** A function that sends a message to the other thread. It throws if the message cannot be cloned. */
type Post<T> = (message: T) => void;

// Number of each function's first call. The main thread makes this call unrequested when it starts the heartbeat thread. So the result arrives even
// if the main thread is blocked soon afterwards.
const FIRST = 0;

/** In the main thread: calls each function once, and sends the results to the heartbeat thread as those of its first calls. */
export function sendFirstResults(functions: Functions, post: Post<ResultOfCall>): void {
  for (const call of Object.keys(functions)) void serveCall({ call, nth: FIRST }, functions, post);
}

/** In the main thread: calls one function, and sends its result or error to the heartbeat thread. Never rejects. */
export async function serveCall(
  { call, nth }: CallOfThread,
  functions: Functions,
  post: Post<ResultOfCall>,
): Promise<void> {
  try {
    const value: unknown = await functions[call]?.();
    post({ call, nth, value });
  } catch (error) {
    post({ call, nth, failure: detailOf(error) });
  }
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** In the heartbeat thread: represents one function of the main thread. */
class MainFunction {
  readonly #send: (nth: number) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #first: Promise<unknown>;
  #calls = FIRST;

  constructor(send: (nth: number) => void) {
    this.#send = send;
    this.#first = this.#result(FIRST);
    // Handles the rejection of this promise, because an error may arrive before the first call awaits it.
    this.#first.catch(() => undefined);
  }

  /** Resolves with the result of the function when the main thread responds. There is no timeout here, so the caller must limit its wait. */
  call(isBlocked: boolean): Promise<unknown> {
    const nth = this.#calls;
    this.#calls += 1;
    if (nth === FIRST) return this.#first;
    if (isBlocked) return Promise.reject(new Error('the main thread is blocked'));
    const result = this.#result(nth);
    this.#send(nth);
    return result;
  }

  settle(result: ResultOfCall): void {
    const pending = this.#pending.get(result.nth);
    this.#pending.delete(result.nth);
    if ('failure' in result) pending?.reject(new Error(result.failure));
    else pending?.resolve(withBuffers(result.value));
  }

  #result(nth: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#pending.set(nth, { resolve, reject });
    });
  }
}

/** In the heartbeat thread: represents the functions of the main thread. */
export class MainFunctions {
  readonly #functions: ReadonlyMap<string, MainFunction>;
  readonly #isBlocked: () => boolean;

  /** @param isBlocked returns whether the main thread is known to be blocked. All calls except the first of each function then reject at once. */
  constructor(names: readonly string[], post: Post<CallOfThread>, isBlocked: () => boolean) {
    this.#functions = new Map(
      names.map((call) => [
        call,
        new MainFunction((nth) => {
          post({ call, nth });
        }),
      ]),
    );
    this.#isBlocked = isBlocked;
  }

  /** Functions by name. Each calls the function of that name in the main thread. */
  get all(): Record<string, () => Promise<unknown>> {
    const entries = [...this.#functions];
    return Object.fromEntries(entries.map(([name, made]) => [name, () => made.call(this.#isBlocked())]));
  }

  /** Settles the call whose result has arrived. */
  settle(result: ResultOfCall): void {
    this.#functions.get(result.call)?.settle(result);
  }
}

/**
 * Returns the value with each `Uint8Array` replaced by a `Buffer`. A structured clone turns buffers into `Uint8Array`, which some store clients
 * refuse.
 */
export function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return value.map(withBuffers);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withBuffers(part)]));
}
