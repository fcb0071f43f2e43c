import type { ClaimState, LockClient, Ownership, QueueState, SessionState } from './api.ts';
import { checkName, requestOf, settingsOf, type RequestDefaults } from './arguments.ts';
import { longestHoldMs } from './budget.ts';
import { QueueLockError, isQueueLockError } from './errors.ts';
import { claim, type ClaimContext } from './lock.ts';
import type { AcquireOptions, LockClientOptions } from './options.ts';
import { SharedQueues } from './queue-watch.ts';
import { HeldNames } from './reentrancy.ts';
import { Subject, catchError, of, type Observable } from './rx.ts';
import { shareSession } from './shared-session.ts';
import type { Backend } from './spi.ts';
import { workUnder } from './work.ts';

/**
 * Makes a client of one backend, which is its own from now on: `close()` closes both. Nothing is connected until the first
 * call needs it.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an option out of its range.
 */
export function createLockClient(backend: Backend, options: LockClientOptions = {}): LockClient {
  return new SharedSessionClient(backend, options);
}

class SharedSessionClient implements LockClient {
  readonly session$: Observable<SessionState>;
  readonly #backend: Backend;
  readonly #defaults: RequestDefaults;
  readonly #context: ClaimContext;
  readonly #queues: SharedQueues;
  readonly #heldNames = new HeldNames();
  /** Errors when the client is closed. */
  readonly #closed$ = new Subject<never>();
  readonly #unfinished = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(backend: Backend, options: LockClientOptions) {
    const { owner, uncleanHandoverDelayMs, ...settings } = settingsOf(backend, options);
    const afterwards = (work: Promise<void>): void => {
      this.#unfinished.add(work);
      void work.finally(() => this.#unfinished.delete(work));
    };
    const { session$, state$ } = shareSession(backend, settings, { closed$: this.#closed$, afterwards });
    const closes$ = this.#closed$.pipe(catchError(() => of(undefined)));
    this.#backend = backend;
    this.#defaults = { owner, longestHoldMs: longestHoldMs(settings) };
    this.session$ = state$.asObservable();
    this.#context = { session$, clock: settings.clock, uncleanHandoverDelayMs, afterwards };
    this.#queues = new SharedQueues(backend, settings.clock, closes$);
  }

  claim(name: string, options: AcquireOptions = {}): Observable<ClaimState> {
    checkName(name, this.#backend);
    return claim(this.#context, requestOf(name, options, this.#defaults));
  }

  async acquire(name: string, options: AcquireOptions = {}): Promise<Ownership> {
    const claim$ = this.claim(name, options);
    if (options.timeoutMs !== 0) this.#heldNames.refuse(name);
    return firstHeld(claim$);
  }

  async tryAcquire(
    name: string,
    options: Omit<AcquireOptions, 'timeoutMs'> = {},
  ): Promise<Ownership | undefined> {
    try {
      return await this.acquire(name, { ...options, timeoutMs: 0 });
    } catch (error) {
      if (isQueueLockError(error, 'TIMEOUT')) return undefined;
      throw error;
    }
  }

  async run<T>(
    name: string,
    work: (ownership: Ownership) => T | PromiseLike<T>,
    options: AcquireOptions = {},
  ): Promise<Awaited<T>> {
    const ownership = await this.acquire(name, options);
    return this.#heldNames.within(name, () => workUnder(ownership, work));
  }

  watch(name: string): Observable<QueueState> {
    checkName(name, this.#backend);
    return this.#queues.watch(name);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#closed$.error(new QueueLockError('CLOSED', 'the client was closed', { reason: 'client-closed' }));
    // A call that closes the client from within may still have to say what it has under way.
    await Promise.resolve();
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);
    await this.#backend.close();
  }
}

/** Subscribes for as long as the claim lives: an ownership ends by its release or its loss, which end the claim. */
function firstHeld(claim$: Observable<ClaimState>): Promise<Ownership> {
  return new Promise((resolve, reject) => {
    claim$.subscribe({
      next: (state) => {
        if (state.status === 'held') resolve(state.ownership);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an abort rejects with the signal's own reason
        if (state.status === 'ended' && state.outcome !== 'released') reject(state.error);
      },
      error: reject,
    });
  });
}
