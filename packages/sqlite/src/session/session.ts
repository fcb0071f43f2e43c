// Folder "session": sends the heartbeats of a session, enqueues and removes its entries, and shares connections among sessions.
// session.ts (this file) contains a client's session. connection.ts contains the connection that all sessions of a process share.

import {
  QueueLockError,
  invalidArgument,
  isQueueLockError,
  type EntrySpec,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import type { Connection } from './connection.ts';
import { keyOf, type EntryPosition } from '../queue/entries.ts';
import type { SessionGeneration } from '../queue/sessions.ts';
import type { Store } from '../file/store.ts';

/** A session that this process has opened or resumed in a lock file. */
export class SqliteSession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  readonly traces: HoldTraces;
  readonly #connection: Connection;
  readonly #store: Store;
  readonly #generation: SessionGeneration;
  /**
   * For a resumed session: the order numbers of the entries that this process has enqueued again.
   * `removeUnclaimed` removes all other entries of the session.
   */
  readonly #claimed: Set<number> | undefined;
  #releasing: Promise<void> | undefined;
  #abandoned = false;

  constructor(connection: Connection, generation: SessionGeneration) {
    this.id = generation.id;
    this.ttlMs = generation.ttlMs;
    this.#connection = connection;
    this.#store = connection.store;
    this.#generation = generation;
    this.#claimed = generation.generation > 1 ? new Set() : undefined;
    this.traces = {
      leave: (queue, entryId) => this.#step(() => this.#leaveTrace(queue, entryId)),
      erase: (queue, traces) => this.#step(() => this.#eraseTraces(queue, traces)),
    };
  }

  /**
   * The session's id, with which another process can resume it. Users that can read the file can read the id. Exporting it keeps the
   * session alive after this process ends.
   */
  get resumption(): string {
    // The caller need not wait until `#release` has detached the session, since later steps of this process
    // run after that.
    this.#release().catch(() => undefined);
    return this.id;
  }

  renew(): Promise<number> {
    return this.#step(() => {
      this.#store.sessions.renew(this.#generation);
      return this.ttlMs;
    });
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    return this.#placement(spec, await this.#step(() => this.#enqueue(spec)));
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const names = specs.map(({ queue }) => queue);
    const duplicate = names.find((queue, position) => names.indexOf(queue) < position);
    if (duplicate !== undefined) throw invalidArgument('specs', duplicate, 'name each queue at most once');
    const positions = await this.#step(() => this.#enqueueAll(specs));
    if (!positions) throw entriesLost(specs);
    return specs.map((spec, position) => this.#placement(spec, positions[position] as EntryPosition));
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const position = await this.#step(() =>
      this.#store.entries.enqueueIfAdmitted(this.#generation.num, spec),
    );
    if (position) this.#claimed?.add(position.ord);
    return position && this.#placement(spec, position);
  }

  update(queue: string, id: string, value: string): Promise<boolean> {
    return this.#step(() => {
      const ord = this.#own(queue, id);
      if (ord !== undefined) this.#store.entries.setValue(queue, ord, value);
      return ord !== undefined;
    });
  }

  share(queue: string, id: string, value: string): Promise<boolean> {
    return this.#step(() => {
      const ord = this.#own(queue, id);
      if (ord !== undefined) this.#store.entries.share(queue, ord, value);
      return ord !== undefined;
    });
  }

  async remove(queue: string, id: string): Promise<boolean> {
    try {
      return await this.#step(() => this.#remove(queue, id));
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  async removeUnclaimed(): Promise<void> {
    const claimed = this.#claimed;
    if (!claimed) return;
    await this.#step(() => {
      for (const { queue, ord } of this.#store.entries.of(this.#generation.num))
        if (!claimed.has(ord)) this.#removeOrder(queue, ord);
    });
  }

  async abandon(): Promise<void> {
    // If the step of `#release` fails, the session ends when its lease expires.
    await this.#release().catch(() => undefined);
    this.#abandoned = true;
  }

  async close(): Promise<void> {
    const { num } = this.#generation;
    // If the step that ends the session fails, the session ends when its lease expires.
    await this.#step(() => this.#store.end(num)).catch(() => undefined);
  }

  /** Runs a step of this session, which must be alive. */
  async #step<T>(run: () => T): Promise<T> {
    if (this.#abandoned)
      throw new QueueLockError(
        'CLOSED',
        `session ${this.id} was not ended here: it ends at its TTL unless another client resumes it`,
      );
    return this.#store.write(() => {
      this.#store.sessions.requireAlive(this.#generation);
      return run();
    });
  }

  /**
   * Detaches the session from this process, so that only its lease ends it. Does so once; after a failure,
   * the next call tries again.
   */
  #release(): Promise<void> {
    this.#releasing ??= this.#step(() => this.#store.sessions.release(this.#generation)).catch(
      (error: unknown) => {
        this.#releasing = undefined;
        throw error;
      },
    );
    return this.#releasing;
  }

  #enqueue(spec: EntrySpec): EntryPosition {
    const position = this.#store.entries.enqueue(this.#generation.num, spec);
    this.#claimed?.add(position.ord);
    return position;
  }

  /**
   * Enqueues all entries or none. If the call is repeated and some entries of the first call were removed
   * meanwhile, it removes the remaining ones and returns `undefined`.
   */
  #enqueueAll(specs: readonly EntrySpec[]): readonly EntryPosition[] | undefined {
    const present = specs.filter(({ queue, id }) => this.#own(queue, id) !== undefined);
    if (present.length === 0 || present.length === specs.length)
      return specs.map((spec) => this.#enqueue(spec));
    for (const { queue, id } of present) this.#remove(queue, id);
    return undefined;
  }

  #remove(queue: string, id: string): boolean {
    const ord = this.#own(queue, id);
    return ord !== undefined && this.#removeOrder(queue, ord);
  }

  #removeOrder(queue: string, ord: number): boolean {
    this.#claimed?.delete(ord);
    this.#store.traces.erase(queue, ord);
    return this.#store.entries.remove(queue, ord);
  }

  #leaveTrace(queue: string, id: string): readonly string[] {
    const ord = this.#own(queue, id);
    if (ord === undefined) throw new QueueLockError('ENTRY_LOST', `the entry ${id} is not in the queue`);
    this.#store.traces.leave(queue, ord);
    return this.#store.traces.orphans(queue).map(String);
  }

  #eraseTraces(queue: string, traces: readonly string[]): void {
    for (const ord of traces) this.#store.traces.erase(queue, Number(ord));
  }

  /** Returns the order number of an entry of this session. */
  #own(queue: string, id: string): number | undefined {
    return this.#store.entries.find(this.#generation.num, { queue, id });
  }

  #placement({ queue }: EntrySpec, position: EntryPosition): Placement {
    const { ord, admitted, ahead, otherLimit } = position;
    const order = BigInt(ord);
    return {
      order,
      token: order,
      key: keyOf(queue, ord),
      turn: { admitted, ...(ahead === undefined ? {} : { ahead }) },
      ...(otherLimit === undefined ? {} : { otherLimit }),
      turns$: this.#connection.follow(queue, this.#generation, position),
    } satisfies Placement;
  }
}

function entriesLost(specs: readonly EntrySpec[]): QueueLockError {
  const ids = specs.map(({ id }) => id).join(', ');
  return new QueueLockError(
    'ENTRY_LOST',
    `one of the entries that were enqueued together (${ids}) was removed`,
  );
}
