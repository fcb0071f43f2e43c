// Folder "session": keeps a session alive, and computes until when it is proven to be alive.
// session.ts (this file) contains a session. heartbeat.ts sends heartbeats. heartbeat-proof.ts computes what they prove.

import {
  QueueLockError,
  entryLost,
  invalidArgument,
  isQueueLockError,
  requireSameEntry,
  sessionLost,
  type EntrySpec,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import { checkSingle } from '../api/single-key.ts';
import { runInAll } from '../base/lane.ts';
import type { Observable } from '../base/rx.ts';
import { change, enter, leave, settle, wouldWait, type Newcomer } from '../entry/entering.ts';
import { Entry } from '../entry/entry.ts';
import { Traces } from '../entry/traces.ts';
import { placementOf, type TurnTools } from '../turn/turns.ts';
import { sendHeartbeat, end } from './heartbeat.ts';
import { provenBy } from './heartbeat-proof.ts';
import type { SessionIdentity } from './renewer.ts';
import { writeResumption } from './resumption.ts';
import { removeUnclaimed } from './unclaimed.ts';

/** Maximum number of queues in one call of `enqueueAll`, the same as on the other backends. Each queue takes one operation of a transaction. */
const MAX_QUEUES = 60;

/** A session on the server that this process has opened or taken over. */
export interface SessionInit {
  readonly id: string;
  readonly ttlMs: number;
  /** Whether the session was taken over. Then the process that used it before may have added entries. */
  readonly isResumed: boolean;
}

/** A session on Consul that this process uses. */
export class ConsulSession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  readonly #tools: TurnTools;
  readonly #isResumed: boolean;
  readonly #entries = new Map<string, Entry>();
  #end: QueueLockError | undefined;

  constructor(tools: TurnTools, { id, ttlMs, isResumed }: SessionInit) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.doubts$ = tools.connection.doubts$;
    this.traces = new Traces(tools);
    this.#tools = tools;
    this.#isResumed = isResumed;
  }

  get resumption(): string {
    return writeResumption({ session: this.id, ttlMs: this.ttlMs });
  }

  /** The data of this session that the heartbeat thread needs to send its heartbeats. */
  get identity(): SessionIdentity {
    return { session: this.id, ttlMs: this.ttlMs, owner: this.#tools.sessionKey.owner };
  }

  async renew(signal: AbortSignal, provenMs: number = 0): Promise<number> {
    this.#throwIfEnded();
    try {
      await sendHeartbeat(this.#tools, this.id, signal);
      this.#throwIfEnded();
      return provenBy(this.ttlMs, provenMs);
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) this.#lose();
      throw error;
    }
  }

  async hasEnded(): Promise<boolean> {
    return this.#end !== undefined || !(await this.#tools.sessionKey.isOwn());
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const [placement] = await this.enqueueAll([spec]);
    return placement as Placement;
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const names = specs.map(({ queue }) => queue);
    const twice = names.find((queue, at) => names.indexOf(queue) < at);
    if (twice !== undefined) throw invalidArgument('specs', twice, 'name each queue at most once');
    if (specs.length > MAX_QUEUES) throw invalidArgument('specs', specs.length, `are at most ${MAX_QUEUES}`);
    if (specs.length === 0) return [];
    checkSingle(specs, this.#tools.singleKeyOf);
    this.#throwIfEnded();
    const newcomers = specs.map((spec): Newcomer => ({ spec, entry: this.#entryFor(spec) }));
    const entries = newcomers.map(({ entry }) => entry);
    return this.#inLanes(entries, () => this.#placeAll(newcomers));
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    this.#throwIfEnded();
    checkSingle([spec], this.#tools.singleKeyOf);
    const entry = this.#entryFor(spec);
    const placement = await this.#inLanes([entry], async () => {
      if (!entry.isWithdrawn && entry.state === 'absent' && (await wouldWait(this.#tools, spec)))
        return undefined;
      const [placed] = await this.#placeAll([{ entry, spec }]);
      return placed;
    });
    if (placement?.turn.admitted) return placement;
    await this.remove(spec.queue, spec.id);
    return undefined;
  }

  async update(queue: string, id: string, value: string): Promise<boolean> {
    return this.#change({ queue, id }, (entry) => ({ value, shared: entry.shared }));
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    checkSingle([{ queue, shared: true, limit: 1 }], this.#tools.singleKeyOf);
    return this.#change({ queue, id }, () => ({ value, shared: true }));
  }

  async remove(queue: string, id: string): Promise<boolean> {
    const entry = this.#find(queue, id);
    if (!entry || this.#end) return false;
    entry.withdraw();
    try {
      return await entry.lane.run(async () => {
        this.#tools.followed.markLeaving(entry.key);
        const isRemoved = await leave(this.#tools, entry);
        this.#forget(entry);
        return isRemoved;
      });
    } catch (error) {
      if (!isQueueLockError(error, 'SESSION_LOST')) throw error;
      this.#lose();
      return false;
    }
  }

  async removeUnclaimed(): Promise<void> {
    if (this.#isResumed) await removeUnclaimed(this.#tools, this.#entries);
  }

  async abandon(): Promise<void> {
    this.#end ??= new QueueLockError(
      'CLOSED',
      `session ${this.id} was not ended here: it ends at its TTL unless another client resumes it`,
    );
    for (const entry of this.#entries.values()) entry.withdraw();
  }

  async close(): Promise<void> {
    if (this.#end) return;
    this.#lose(sessionLost(this.id));
    await end(this.#tools, this.id);
  }

  async #placeAll(newcomers: readonly Newcomer[]): Promise<readonly Placement[]> {
    for (const { entry } of newcomers) if (entry.isWithdrawn) throw entryLost(entry.id);
    const positions = await enter(this.#tools, newcomers);
    return Promise.all(
      newcomers.map((newcomer, at) => {
        const position = positions[at] as (typeof positions)[number];
        newcomer.entry.found(position.own);
        requireSameEntry(newcomer.entry, newcomer.spec);
        return placementOf(this.#tools, newcomer, position);
      }),
    );
  }

  async #change(
    { queue, id }: Pick<EntrySpec, 'queue' | 'id'>,
    to: (entry: Entry) => { readonly value: string; readonly shared: boolean },
  ): Promise<boolean> {
    this.#throwIfEnded();
    const entry = this.#find(queue, id);
    if (!entry) return false;
    return this.#inLanes([entry], async () => {
      await settle(this.#tools, [entry]);
      return change(this.#tools, entry, to(entry));
    });
  }

  async #inLanes<T>(entries: readonly Entry[], work: () => Promise<T>): Promise<T> {
    try {
      const lanes = entries.map(({ lane }) => lane);
      return await runInAll(lanes, async () => {
        this.#throwIfEnded();
        return work();
      });
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) this.#lose();
      else if (isQueueLockError(error, 'ENTRY_LOST'))
        for (const entry of entries) {
          this.#forget(entry);
          entry.lose();
        }
      else for (const entry of entries) if (entry.state === 'absent') this.#forget(entry);
      throw error;
    }
  }

  /** Returns the session's entry with the id in `spec`. Creates the entry if this process knows none with that id. */
  #entryFor(spec: EntrySpec): Entry {
    const known = this.#entries.get(spec.id);
    if (known) {
      if (known.state === 'placed' || known.queue !== spec.queue) requireSameEntry(known, spec);
      return known;
    }
    const { keys, singleKeyOf } = this.#tools;
    const entry = new Entry(spec, keys.entry(spec.queue, spec.id), singleKeyOf(spec.queue));
    if (this.#isResumed) entry.state = 'unread';
    this.#entries.set(spec.id, entry);
    return entry;
  }

  /**
   * Returns the entry with this id if it may be in the queue with this name. In a resumed session, that includes entries of which this process knows
   * nothing yet.
   */
  #find(queue: string, id: string): Entry | undefined {
    const known = this.#entries.get(id);
    if (known) return known.queue === queue ? known : undefined;
    return this.#isResumed ? this.#entryFor({ queue, id, shared: false, limit: 1 }) : undefined;
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }

  /** Records that the session has ended. The stream of turns of each of its entries then errors. */
  #lose(error: QueueLockError = sessionLost(this.id)): QueueLockError {
    this.#end ??= error;
    for (const entry of this.#entries.values()) entry.lose(error);
    return this.#end;
  }

  #throwIfEnded(): void {
    if (this.#end) throw this.#end;
  }
}
