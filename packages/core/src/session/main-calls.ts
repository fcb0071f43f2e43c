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

/** Sends a message to the other thread. Throws if the message cannot be cloned. */
type Post<T> = (message: T) => void;

// The main thread makes the first call of each function itself, when it starts the heartbeat thread. The
// result then arrives even if the main thread is blocked before the heartbeat thread runs.
const FIRST = 0;

/** Main thread: calls each function, and sends the results to the heartbeat thread for its first calls. */
export function sendFirstResults(functions: Functions, post: Post<ResultOfCall>): void {
  for (const call of Object.keys(functions)) void serveCall({ call, nth: FIRST }, functions, post);
}

/** Main thread: calls the function, and sends its result to the heartbeat thread. Never rejects. */
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

/** Heartbeat thread: one function of the main thread. */
class MainFunction {
  readonly #send: (nth: number) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #first: Promise<unknown>;
  #calls = FIRST;

  constructor(send: (nth: number) => void) {
    this.#send = send;
    this.#first = this.#result(FIRST);
    // The first result may be an error that arrives before the first call.
    this.#first.catch(() => undefined);
  }

  /** Resolves with the result of the function. The caller limits the time: the call is pending until the main thread responds. */
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

/** Heartbeat thread: the functions of the main thread. */
export class MainFunctions {
  readonly #functions: ReadonlyMap<string, MainFunction>;
  readonly #isBlocked: () => boolean;

  /** @param isBlocked returns whether the main thread is known to be blocked. Calls but the first one then reject at once. */
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

  /** The functions by their names. */
  get all(): Record<string, () => Promise<unknown>> {
    const entries = [...this.#functions];
    return Object.fromEntries(entries.map(([name, made]) => [name, () => made.call(this.#isBlocked())]));
  }

  /** Settles the call whose result has arrived. */
  settle(result: ResultOfCall): void {
    this.#functions.get(result.call)?.settle(result);
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
