import { inCallerContext } from './base/caller-context.ts';
import type { CloseOptions, LockClient, MultiLock, SessionState } from './api/api.ts';
import type { ClaimState } from './api/claim-state.ts';
import {
  checkBackend,
  checkDrain,
  checkName,
  checkWork,
  checkedEviction,
  requestOf,
  type RequestDefaults,
} from './checks/arguments.ts';
import { settingsOf } from './checks/client-settings.ts';
import { longestHoldMs } from './session/budget.ts';
import { runWithin } from './reentrancy/call-chain.ts';
import { checkedOptions } from './checks/checked-options.ts';
import { QueueLockError, isQueueLockError } from './api/errors.ts';
import { Evictions, type Victim } from './handover/evictions.ts';
import { Closing } from './work/closing.ts';
import type { Ownership } from './api/hold-api.ts';
import { HoldTimes } from './turn/hold-times.ts';
import {
  ACQUIRE_OPTIONS,
  CLAIM_OPTIONS,
  CLIENT_OPTIONS,
  CLOSE_OPTIONS,
  RUN_OPTIONS,
  TRY_ACQUIRE_OPTIONS,
} from './checks/known-options.ts';
import { claim } from './claim/lock.ts';
import type { ClaimContext } from './claim/claim-context.ts';
import type { PositionStream } from './api/position-api.ts';
import { acquireNotifying, positionsOfClaim } from './position/claim-with-position.ts';
import { NamesTogether } from './multi/multi-lock.ts';
import type { AcquireOptions, ClaimOptions, LockClientOptions, RunOptions } from './api/options.ts';
import type { Eviction, QueueState, SharedRegister } from './api/queue-api.ts';
import { recorderOf } from './past/hold-recorder.ts';
import type { RecordedHoldsState } from './api/past-api.ts';
import { resumptionOf } from './session/resume.ts';
import { ReentrantOwnership, holdToEnter } from './reentrancy/reentrancy.ts';
import { NEVER, Subject, catchError, merge, of, type Observable } from './base/rx.ts';
import { shareSession } from './session/shared-session.ts';
import type { Backend } from './api/spi.ts';
import type { QueueHistory, QueuesState } from './api/store-api.ts';
import type { Finding } from './api/store-facts.ts';
import { StoreViews } from './views/store-views.ts';
import type { ClaimRequest } from './entry/new-entry.ts';
import { waitOf } from './work/work-options.ts';
import { workUnder } from './work/work.ts';
import { Works } from './work/works.ts';

/**
 * Creates a client of one backend and takes ownership of it: `close()` closes both. Connects only when the first call needs it.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when `backend` is not a backend, or an option is unknown or out of range
 * @example const locks = createLockClient(backend, { ttlMs: 10_000 });
 */
export function createLockClient(backend: Backend, options: LockClientOptions = {}): LockClient {
  checkBackend(backend);
  const checked = checkedOptions('options of createLockClient', options, CLIENT_OPTIONS);
  return new SharedSessionClient(backend, checked);
}

class SharedSessionClient implements LockClient {
  readonly session$: Observable<SessionState>;
  readonly errors$: Observable<QueueLockError>;
  readonly #backend: Backend;
  readonly #defaults: RequestDefaults;
  readonly #context: ClaimContext;
  readonly #views: StoreViews;
  /** Stream that errors when the client is closed, which ends all streams of the client. */
  readonly #closed$ = new Subject<never>();
  readonly #closing = new AbortController();
  readonly #unfinished = new Set<Promise<void>>();
  readonly #works = new Works();
  #closed: Promise<void> | undefined;
  #keepsSession = false;

  constructor(backend: Backend, options: LockClientOptions) {
    const { owner, lockDelayMs, recordHolds, ...settings } = settingsOf(backend, options);
    const { clock } = settings;
    const afterwards = (work: Promise<void>): void => {
      this.#unfinished.add(work);
      void work.finally(() => this.#unfinished.delete(work));
    };
    const end = { closed$: this.#closed$, afterwards, keepsSession: () => this.#keepsSession };
    const session = shareSession(backend, settings, end);
    const closes$ = this.#closed$.pipe(catchError(() => of(undefined)));
    const closing = this.#closing.signal;
    this.#backend = backend;
    this.#defaults = { owner, longestHoldMs: longestHoldMs(settings, backend.info) };
    this.session$ = inCallerContext(session.state$);
    this.#views = new StoreViews(backend, clock, { closes$, closing });
    const recorder = recorderOf(backend, { last: recordHolds, clock, closing, afterwards });
    this.errors$ = this.#views.errors(merge(session.errors$, recorder?.errors$ ?? NEVER));
    const register = (name: string, kind: string): SharedRegister => this.register(name, kind);
    this.#context = {
      ...session,
      clock,
      info: backend.info,
      lockDelayMs,
      afterwards,
      watch: (name, observeOptions) => this.#views.watch(name, observeOptions),
      evictions: new Evictions({ backend, by: owner, register, closing }),
      holdTimes: new HoldTimes(),
      recorder,
      closing: new Closing(),
    };
  }

  claim(name: string, options?: ClaimOptions): Observable<ClaimState> {
    const checked = checkedOptions('options of claim', options, CLAIM_OPTIONS);
    return claim(this.#context, this.#request(name, checked));
  }

  claimWithPosition(name: string, options?: ClaimOptions): PositionStream {
    const checked = checkedOptions('options of claimWithPosition', options, CLAIM_OPTIONS);
    const newEntry = { name, requested: 'claimWithPosition', typicalHoldMs: checked.typicalHoldMs };
    return positionsOfClaim(this.#context, claim(this.#context, this.#request(name, checked)), newEntry);
  }

  async acquire(name: string, options?: AcquireOptions): Promise<Ownership> {
    return this.#acquire(name, checkedOptions('options of acquire', options, ACQUIRE_OPTIONS));
  }

  #request(name: string, options: ClaimOptions): ClaimRequest {
    checkName(name, this.#backend);
    return requestOf(name, options, this.#defaults);
  }

  #acquire(name: string, options: AcquireOptions): Promise<Ownership> {
    const request = this.#request(name, options);
    const outer = holdToEnter(this, name, options);
    if (outer) return outer.enter(options, this.#context.clock);
    const held = acquireNotifying(this.#context, request, options);
    return options.reentrant ? held.then((hold) => ReentrantOwnership.outermost(this, hold)) : held;
  }

  async tryAcquire(
    name: string,
    options?: Omit<AcquireOptions, 'timeoutMs'>,
  ): Promise<Ownership | undefined> {
    const checked = checkedOptions('options of tryAcquire', options, TRY_ACQUIRE_OPTIONS);
    try {
      return await this.#acquire(name, { ...checked, timeoutMs: 0 });
    } catch (error) {
      if (isQueueLockError(error, 'TIMEOUT')) return undefined;
      throw error;
    }
  }

  async run<T>(
    name: string,
    work: (ownership: Ownership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: RunOptions,
  ): Promise<Awaited<T>> {
    checkWork(work);
    const { wait, limits } = waitOf(checkedOptions('options of run', options, RUN_OPTIONS));
    const ownership = await this.#acquire(name, wait);
    const hold = { by: this, ownership, permits: wait.permits ?? 1 };
    // Only `work` runs inside the call chain of the hold. The release runs outside of it, where promises cost less.
    const within: typeof work = (own, stop) => runWithin(hold, () => work(own, stop));
    const { clock, closing } = this.#context;
    const terms = { what: `the lock ${JSON.stringify(name)}`, work: within, clock, closing, ...limits };
    return await this.#works.during(() => workUnder(ownership, terms));
  }

  multi(names: readonly string[]): MultiLock {
    return new NamesTogether(names, {
      by: this,
      backend: this.#backend,
      context: this.#context,
      defaults: this.#defaults,
      works: this.#works,
    });
  }

  watch(name: string): Observable<QueueState> {
    checkName(name, this.#backend);
    return inCallerContext(this.#views.watch(name));
  }

  queues(prefix = ''): Observable<QueuesState> {
    return this.#views.queues(prefix);
  }

  history(name: string): Promise<QueueHistory> {
    return this.#views.history(name);
  }

  tokenOf(name: string, entry: Pick<Victim, 'key' | 'order'>): Promise<bigint | undefined> {
    return this.#views.tokenOf(name, entry);
  }

  diagnose(prefix = ''): Promise<readonly Finding[]> {
    return this.#views.diagnose(prefix);
  }

  async evict(name: string, entry: Victim, options: { readonly reason: string }): Promise<boolean> {
    checkName(name, this.#backend);
    const reason = checkedEviction(entry, options);
    return this.#context.evictions.evict(name, entry, { kind: 'evicted', reason });
  }

  evictions(name: string): Observable<readonly Eviction[]> {
    return inCallerContext(this.#context.evictions.watch(name));
  }

  register(name: string, kind: string): SharedRegister {
    return this.#views.register(name, kind);
  }

  recordedHolds(name: string): Observable<RecordedHoldsState> {
    return this.#views.recordedHolds(name);
  }

  forgetHolds(name: string): Promise<void> {
    return this.#views.forgetHolds(name);
  }

  async exportSession(): Promise<string> {
    return resumptionOf(this.#context.session$, this.#backend);
  }

  abandon(): Promise<void> {
    this.#keepsSession = true;
    return this.close();
  }

  async close(options?: CloseOptions): Promise<void> {
    const { drainMs = 0 } = checkedOptions('options of close', options, CLOSE_OPTIONS);
    checkDrain(drainMs);
    this.#closed ??=
      drainMs > 0 ? this.#works.drain(drainMs, this.#context).then(() => this.#close()) : this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    const error = new QueueLockError('CLOSED', 'the client was closed', { reason: 'client-closed' });
    this.#closed$.error(error);
    this.#closing.abort(error);
    // Waits one tick. In that time, the code that has called `close` can still register unfinished work.
    await Promise.resolve();
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);
    await this.#backend.close();
  }
}
