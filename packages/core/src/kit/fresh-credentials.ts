import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import { boundToCaller } from '../base/caller-context.ts';
import { Subject, type Observable } from '../base/rx.ts';

/** A value, or a function that returns it or a promise of it. The function is called for each new connection. */
export type Provided<T> = T | (() => T | PromiseLike<T>);

/** The source of credentials: a fixed value or a function. */
export interface CredentialSource<T> {
  /** Reads the credentials. Returns or resolves with credentials that are valid as far as this process can check, or throws. */
  readonly read: () => T | PromiseLike<T>;
  /** Credentials that are already known when the backend is created. */
  readonly known?: T | undefined;
  /** Whether the known credentials never change, so that `read` is not called. */
  readonly isFixed?: boolean;
  /** Time limit for `read` when a new connection waits for it, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Provides credentials for new connections, which may change while the process runs. They are read again for each connection. If they cannot be read,
 * for instance because a file is half written, the last valid ones are used. So a failure to read them does not end a hold.
 */
export class FreshCredentials<T> {
  readonly #source: CredentialSource<T>;
  readonly #errors$ = new Subject<QueueLockError>();
  #valid: { readonly value: T; readonly nth: number } | undefined;
  #reading: Promise<T> | undefined;
  #reads = 0;

  constructor(source: CredentialSource<T>) {
    this.#source = source;
    if (source.known !== undefined) this.#valid = { value: source.known, nth: 0 };
  }

  /** Emits an error for each failed read of the credentials, if the last valid credentials were used instead. Never errors. */
  get errors$(): Observable<QueueLockError> {
    return this.#errors$;
  }

  /** Whether the credentials never change. */
  get isFixed(): boolean {
    return this.#source.isFixed === true && this.#valid !== undefined;
  }

  /** The last valid credentials, or `undefined` if none have been read. */
  get latest(): T | undefined {
    return this.#valid?.value;
  }

  /**
   * Returns the credentials for a new connection. Calls at the same time share one read.
   * @throws {QueueLockError} when the read fails or takes too long and no read has succeeded before. A `QueueLockError` of the read is passed on; any
   *   other error becomes `UNAVAILABLE`
   */
  next(): Promise<T> {
    if (this.isFixed && this.#valid) return Promise.resolve(this.#valid.value);
    if (!this.#reading) {
      const reading = this.#readOrLatest().finally(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
      this.#reading = reading;
    }
    return this.#reading;
  }

  async #readOrLatest(): Promise<T> {
    try {
      return await this.#inTime(this.#read());
    } catch (error) {
      if (!this.#valid) throw unreadable(error, '');
      this.#errors$.next(
        unreadable(error, '; the last valid ones are used, and the next connection reads again'),
      );
      return this.#valid.value;
    }
  }

  /** Reads the credentials. If the result comes too late for one connection, the next connection uses it, unless a later read has ended before. */
  async #read(): Promise<T> {
    const nth = (this.#reads += 1);
    const value = await this.#source.read();
    if (!this.#valid || this.#valid.nth < nth) this.#valid = { value, nth };
    return value;
  }

  #inTime(reading: Promise<T>): Promise<T> {
    const { withinMs } = this.#source;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`no result within ${String(withinMs)} ms`));
      }, withinMs);
      reading.then(resolve, reject).finally(() => {
        clearTimeout(timer);
      });
    });
  }
}

/** Resolves with the value, or with the result if it is a function. */
export async function valueOf<T>(provided: Provided<T>): Promise<T> {
  return isFunction(provided) ? provided() : provided;
}

/** Returns whether a function provides the value. */
export function isFunction<T>(provided: Provided<T>): provided is () => T | PromiseLike<T> {
  return typeof provided === 'function';
}

/** Binds the function that provides a value to the asynchronous context of this call, and returns it. Returns other values unchanged. */
export function providedByCaller<T>(provided: Provided<T>): Provided<T> {
  return isFunction(provided) ? boundToCaller(provided) : provided;
}

function unreadable(cause: unknown, consequence: string): QueueLockError {
  if (consequence === '' && isQueueLockError(cause)) return cause;
  const message = `the credentials for a new connection cannot be read: ${detailOf(cause)}${consequence}`;
  return new QueueLockError('UNAVAILABLE', message, { cause });
}
