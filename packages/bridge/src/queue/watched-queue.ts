import * as v from 'valibot';
import {
  admittedEntries,
  isQueueLockError,
  type Eviction,
  type LockClient,
  type QueueState,
} from '@queuelock/core';
import type { FaultLog } from '../faults.ts';
import { follow } from '../follow.ts';
import { EMPTY, Subject, Subscription, type Observable } from '../rx.ts';
import type { ServerTime } from '../server-time.ts';
import { evictionSchema } from '../wire.ts';
import { evictionSnapshot } from '../snapshots/eviction.ts';
import { Chronicle, nameOf } from './chronicle.ts';

/** The parts of a bridge that `WatchedQueue` uses. */
export interface WatchTools {
  readonly client: Pick<LockClient, 'watch' | 'evictions' | 'tokenOf'>;
  readonly time: ServerTime;
  readonly faults: FaultLog;
}

/**
 * Largest number of holders whose tokens are read. If there are more shared holders, the rest have no token
 * in the snapshot.
 */
const MAX_TOKENS = 20;

/** One queue, watched once for all topics that need it: its state, history, evictions, and the tokens of its holders. */
export class WatchedQueue {
  readonly name: string;
  readonly chronicle: Chronicle;
  readonly #tools: WatchTools;
  readonly #watches = new Subscription();
  readonly #changed$ = new Subject<void>();
  #state: QueueState;
  #evictions: readonly Eviction[] = [];
  /**
   * The fencing tokens of the holders, by a text that identifies the holder's entry. The value is `undefined`
   * while the token is being read.
   */
  #tokens = new Map<string, bigint | undefined>();

  constructor(name: string, tools: WatchTools) {
    this.name = name;
    this.chronicle = new Chronicle(tools.time.now());
    this.#tools = tools;
    this.#state = { status: 'connecting', name, entries: [] };
    const { client } = tools;
    const state$ = client.watch(name);
    this.#watches.add(follow(state$, (state) => this.#update(state)));
    this.#watches.add(follow(evictionsOf(client, name), (evictions) => this.#explain(evictions)));
  }

  get state(): QueueState {
    return this.#state;
  }

  /**
   * Valid evictions, the newest last. Malformed records, which other programs may have written, are left out.
   */
  get evictions(): readonly Eviction[] {
    return this.#evictions;
  }

  /** Emits after every change of the queue, its evictions or its tokens. */
  get changed$(): Observable<void> {
    return this.#changed$;
  }

  tokenOf(entry: Parameters<typeof nameOf>[0]): bigint | undefined {
    return this.#tokens.get(nameOf(entry));
  }

  close(): void {
    this.#watches.unsubscribe();
    this.#changed$.complete();
  }

  #update(state: QueueState): void {
    const { time, faults } = this.#tools;
    if (state.status !== this.#state.status) faults.store(this.name, state);
    this.#state = state;
    this.chronicle.record(state, time.now());
    this.chronicle.explain(this.#evictions);
    this.#readTokens();
    this.#changed$.next();
  }

  #explain(evictions: readonly Eviction[]): void {
    this.#evictions = evictions.filter((eviction) => v.is(evictionSchema, evictionSnapshot(eviction)));
    this.chronicle.explain(this.#evictions);
    this.#tools.faults.evictions(this.name, this.#evictions);
    this.#changed$.next();
  }

  #readTokens(): void {
    const { entries, status } = this.#state;
    if (status !== 'live') return;
    const known = this.#tokens;
    const holders = [...admittedEntries(entries)].slice(0, MAX_TOKENS);
    this.#tokens = new Map(holders.map((entry) => [nameOf(entry), known.get(nameOf(entry))]));
    for (const entry of holders) if (!known.has(nameOf(entry))) void this.#readToken(entry);
  }

  async #readToken(entry: QueueState['entries'][number]): Promise<void> {
    const { client } = this.#tools;
    // A token that cannot be read stays unknown until the next change of the queue.
    const token = await client.tokenOf(this.name, entry).catch(() => undefined);
    if (!this.#tokens.has(nameOf(entry)) || this.#watches.closed) return;
    if (token === undefined) this.#tokens.delete(nameOf(entry));
    else this.#tokens.set(nameOf(entry), token);
    this.#changed$.next();
  }
}

/** Returns the evictions of a queue, or none for a store that does not record them. */
function evictionsOf(client: WatchTools['client'], name: string): Observable<readonly Eviction[]> {
  try {
    return client.evictions(name);
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return EMPTY;
    throw error;
  }
}
