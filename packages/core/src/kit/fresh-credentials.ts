import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import { boundToCaller } from '../base/caller-context.ts';
import { Subject, type Observable } from '../base/rx.ts';

/** A value, or a function that returns it or a promise of it. The function is called for each new connection. */
export type Provided<T> = T | (() => T | PromiseLike<T>);

/** The source of credentials: a fixed value or a function. */
export interface CredentialSource<T> {
  /** Returns or resolves with credentials that are valid as far as this process can check, or throws. */
  readonly read: () => T | PromiseLike<T>;
  /** The credentials that are known when the backend is created. */
  readonly known?: T | undefined;
  /** Whether the known credentials never change. `read` is not called then. */
  readonly isFixed?: boolean;
  /** How long a new connection waits for `read`, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Credentials for new connections, which may be replaced while the process runs. They are read again for each connection. While they cannot be
 * read, as when a file is half written, the last valid ones are used: a failure here must not end a hold.
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

  /** Emits each failure to read credentials while earlier valid ones could be used. Never errors. */
  get errors$(): Observable<QueueLockError> {
    return this.#errors$;
  }

  /** Whether the credentials never change. */
  get isFixed(): boolean {
    return this.#source.isFixed === true && this.#valid !== undefined;
  }

  /** The last valid credentials, or `undefined` before the first. */
  get latest(): T | undefined {
    return this.#valid?.value;
  }

  /**
   * Returns the credentials for a new connection. Calls at the same time share one read.
   * @throws {QueueLockError} what the first read throws; `UNAVAILABLE` for an error of another kind, or when it takes too long
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

  /** Reads the credentials. A late result is used for the next connection, unless a later read has ended before. */
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

/** Resolves with the provided value, or with the result of the function that provides it. */
export async function valueOf<T>(provided: Provided<T>): Promise<T> {
  return isFunction(provided) ? provided() : provided;
}

/** Whether the value is provided by a function. */
export function isFunction<T>(provided: Provided<T>): provided is () => T | PromiseLike<T> {
  return typeof provided === 'function';
}

/** Returns a provided value whose function runs in the context of the caller that passed it. */
export function providedByCaller<T>(provided: Provided<T>): Provided<T> {
  return isFunction(provided) ? boundToCaller(provided) : provided;
}

function unreadable(cause: unknown, consequence: string): QueueLockError {
  if (consequence === '' && isQueueLockError(cause)) return cause;
  const message = `the credentials for a new connection cannot be read: ${detailOf(cause)}${consequence}`;
  return new QueueLockError('UNAVAILABLE', message, { cause });
}
