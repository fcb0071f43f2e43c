// Folder "views": observes queues, registers, and the store with its history.
// live-view.ts observes a value, again after errors. queue-watch.ts observes one queue. register.ts reads and writes a register.
// store-views.ts (this file) and replayed.ts read all queues and their history.

import { checkEntry, checkName } from '../checks/arguments.ts';
import { inCallerContext } from '../base/caller-context.ts';
import type { Clock } from '../base/clock.ts';
import { invalidArgument, type QueueLockError } from '../api/errors.ts';
import { jsonable } from '../base/jsonable.ts';
import { liveView } from './live-view.ts';
import { HOLDS_KIND } from '../past/hold-records.ts';
import { recordedHolds } from '../past/recorded-holds.ts';
import type { RecordedHoldsState } from '../api/past-api.ts';
import type { QueueState, SharedRegister } from '../api/queue-api.ts';
import { SharedQueues } from './queue-watch.ts';
import { RetryingRegister, type RegisterEnd } from './register.ts';
import { replayed } from './replayed.ts';
import {
  NEVER,
  combineLatest,
  distinctUntilChanged,
  map,
  merge,
  takeUntil,
  type Observable,
} from '../base/rx.ts';
import type { Backend, ObserveOptions } from '../api/spi.ts';
import type { QueueHistory, QueuesState } from '../api/store-api.ts';
import type { Finding, ListedQueue } from '../api/store-facts.ts';

/** Provides the queues, history, registers and health checks of a store, as far as the backend supports them. */
export class StoreViews {
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #end: RegisterEnd;
  readonly #watched: SharedQueues;

  constructor(backend: Backend, clock: Clock, end: RegisterEnd) {
    this.#backend = backend;
    this.#clock = clock;
    this.#end = end;
    this.#watched = new SharedQueues(backend, clock, end.closes$);
  }

  /** Emits failures from which the backend, the session and the recorder of holds recover by themselves. Completes when the client closes. */
  errors(others$: Observable<QueueLockError>): Observable<QueueLockError> {
    const errors$ = merge(this.#backend.errors$ ?? NEVER, others$);
    return inCallerContext(errors$.pipe(takeUntil(this.#end.closes$)));
  }

  watch(name: string, observeOptions?: ObserveOptions): Observable<QueueState> {
    return this.#watched.watch(name, observeOptions);
  }

  register(name: string, kind: string): SharedRegister {
    checkName(name, this.#backend);
    return new RetryingRegister(this.#backend, { name, kind }, { clock: this.#clock, end: this.#end });
  }

  recordedHolds(name: string): Observable<RecordedHoldsState> {
    const { state$ } = this.register(name, HOLDS_KIND);
    const holds$ = combineLatest([state$, this.watch(name)]).pipe(
      map(([register, queue]) => recordedHolds(register, queue)),
      distinctUntilChanged((before, now) => JSON.stringify(before) === JSON.stringify(now)),
    );
    return inCallerContext(holds$);
  }

  async forgetHolds(name: string): Promise<void> {
    await this.register(name, HOLDS_KIND).change(() => undefined);
  }

  queues(prefix: string): Observable<QueuesState> {
    const backend = this.#offering('queues', checkedPrefix(prefix));
    return inCallerContext(
      liveView(() => backend.queues(prefix), this.#clock).pipe(
        map(({ status, ...view }) =>
          jsonable({
            status,
            queues:
              'value' in view ? [...view.value].sort(byName).map((queue) => jsonable({ ...queue })) : [],
            ...('error' in view ? { error: view.error } : {}),
          }),
        ),
        takeUntil(this.#end.closes$),
      ),
    );
  }

  async history(name: string): Promise<QueueHistory> {
    checkName(name, this.#backend);
    const backend = this.#offering('history', name);
    const { closing } = this.#end;
    closing.throwIfAborted();
    return replayed(name, await backend.history(name, closing));
  }

  async tokenOf(
    name: string,
    entry: { readonly key: string; readonly order: bigint },
  ): Promise<bigint | undefined> {
    checkName(name, this.#backend);
    checkEntry(entry);
    this.#end.closing.throwIfAborted();
    return this.#backend.tokenOf ? this.#backend.tokenOf(name, entry) : entry.order;
  }

  async diagnose(prefix: string): Promise<readonly Finding[]> {
    const backend = this.#offering('diagnose', checkedPrefix(prefix));
    this.#end.closing.throwIfAborted();
    return backend.diagnose(prefix);
  }

  #offering<M extends 'queues' | 'history' | 'diagnose'>(
    member: M,
    value: string,
  ): Backend & Required<Pick<Backend, M>> {
    const backend = this.#backend;
    if (offers(backend, member)) return backend;
    throw invalidArgument(member, value, `is not offered by the backend ${backend.info.name}`);
  }
}

function offers<M extends keyof Backend>(
  backend: Backend,
  member: M,
): backend is Backend & Required<Pick<Backend, M>> {
  return backend[member] !== undefined;
}

function checkedPrefix(prefix: string): string {
  if (typeof prefix === 'string') return prefix;
  throw invalidArgument('prefix', prefix, 'is a string');
}

function byName(a: ListedQueue, b: ListedQueue): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
