import {
  QueueLockError,
  invalidArgument,
  requireSameEntry,
  systemClock,
  type Clock,
  type EntrySpec,
  type ListedQueue,
  type Register,
  type StoredEntry,
} from '@queuelock/core/backend';
import type { MemoryEntry, MemoryServer, MemoryServerOptions } from './memory-server.ts';
import { otherLimit, turnBehind, type Entry } from './queue.ts';
import { observeQueues } from './queue-list.ts';
import { Queues, turnsOf } from './queues.ts';
import { RegisterStore } from './register-store.ts';
import { Observable } from './rx.ts';
import { Sessions, type Granted } from './sessions.ts';
import { Traces } from './traces.ts';

/**
 * The coordination server in this process: queues, sessions, registers and one counter. Every call takes
 * effect synchronously, including the grants to other entries. The counter, which never starts again, gives
 * each entry one number: its order number and token.
 */
export class Server implements MemoryServer {
  readonly clock: Clock;
  readonly name: string;
  readonly registers: RegisterStore = new RegisterStore();
  readonly #queues: Queues;
  readonly #sessions: Sessions;
  readonly #traces = new Traces();
  #counter = 0n;
  #watchers = 0;

  constructor({ clock = systemClock(), name = '' }: MemoryServerOptions) {
    this.clock = clock;
    this.name = name;
    this.#queues = new Queues(() => ++this.#counter);
    this.#sessions = new Sessions(clock, (id) => {
      this.#queues.dropAllOf(id);
    });
  }

  // --- Methods and properties for tests and operators.

  queues(): ReadonlyMap<string, readonly MemoryEntry[]> {
    return new Map(this.#queues.filled.map(({ name, entries }) => [name, entries.map(inspect)]));
  }

  get entryCount(): number {
    return this.#queues.filled.reduce((count, { entries }) => count + entries.length, 0);
  }

  get registerCount(): number {
    return this.registers.count;
  }

  get watcherCount(): number {
    return this.#watchers;
  }

  get wakeUps(): number {
    return this.#queues.wakeUps;
  }

  get sessionIds(): readonly string[] {
    return this.#sessions.ids;
  }

  expireSession(id: string): boolean {
    return this.#sessions.end(id);
  }

  evict(key: string): boolean {
    const entries = this.#queues.filled.flatMap((queue) => queue.entries);
    return this.#drop(entries.find((entry) => entry.key === key));
  }

  close(): void {
    for (const id of this.#sessions.ids) this.#sessions.end(id);
  }

  // --- Methods for connections of clients. `Session` and `Backend` specify the methods of these names.

  open(ttlMs: number): Granted {
    return this.#sessions.open(`session-${String(++this.#counter)}`, ttlMs);
  }

  renew(sessionId: string): Granted {
    return this.#sessions.renew(sessionId);
  }

  resume(sessionId: string): Granted {
    return this.#sessions.resume(sessionId);
  }

  requireTenant(sessionId: string, tenancy: number): void {
    this.#sessions.requireTenant(sessionId, tenancy);
  }

  end(sessionId: string): void {
    this.#sessions.end(sessionId);
  }

  enqueue(sessionId: string, spec: EntrySpec): Entry {
    this.#sessions.requireAlive(sessionId);
    this.#requireSame(sessionId, spec);
    const entry = this.#queues.find(spec.queue, spec.id);
    const tenancy = this.#sessions.tenancyOf(sessionId);
    if (!entry) return this.#queues.join({ sessionId, tenancy }, spec);
    // Refuses the id of an entry of another session. Ids cannot be guessed, so the client has this id from an
    // earlier process.
    if (entry.sessionId !== sessionId)
      throw new QueueLockError('ENTRY_LOST', `the entry ${entry.key} is of another session`);
    entry.tenancy = tenancy;
    if (spec.limit !== entry.limit) this.#queues.change(entry, { limit: spec.limit });
    return entry;
  }

  enqueueAll(sessionId: string, specs: readonly EntrySpec[]): readonly Entry[] {
    this.#sessions.requireAlive(sessionId);
    const names = specs.map(({ queue }) => queue);
    const twice = names.find((queue, place) => names.indexOf(queue) < place);
    if (twice !== undefined) throw invalidArgument('specs', twice, 'name each queue at most once');
    for (const spec of specs) this.#requireSame(sessionId, spec);
    const present = specs.filter(({ queue, id }) => this.#queues.find(queue, id));
    if (present.length > 0 && present.length < specs.length) this.loseAll(sessionId, specs);
    return specs.map((spec) => this.enqueue(sessionId, spec));
  }

  /** Removes all entries that one call has enqueued, because one of them was removed. Throws `ENTRY_LOST`. */
  loseAll(sessionId: string, specs: readonly EntrySpec[]): never {
    for (const spec of specs) this.remove(sessionId, spec);
    const ids = specs.map(({ id }) => id).join(', ');
    throw new QueueLockError(
      'ENTRY_LOST',
      `one of the entries that were enqueued together (${ids}) was removed`,
    );
  }

  tryEnqueue(sessionId: string, spec: EntrySpec): Entry | undefined {
    this.#sessions.requireAlive(sessionId);
    const { queue, id } = spec;
    const turn = this.#queues.find(queue, id)?.turn ?? turnBehind(this.#queues.in(queue), spec);
    return turn.admitted ? this.enqueue(sessionId, spec) : undefined;
  }

  update(sessionId: string, { queue, id }: EntryRef, value: string): boolean {
    this.#sessions.requireAlive(sessionId);
    const entry = this.#queues.own(sessionId, { queue, id });
    if (entry) this.#queues.relabel(entry, value);
    return entry !== undefined;
  }

  share(sessionId: string, { queue, id }: EntryRef, value: string): boolean {
    this.#sessions.requireAlive(sessionId);
    const entry = this.#queues.own(sessionId, { queue, id });
    if (entry) this.#queues.change(entry, { value, shared: true });
    return entry !== undefined;
  }

  remove(sessionId: string, { queue, id }: EntryRef): boolean {
    const entry = this.#queues.own(sessionId, { queue, id });
    // Erases the trace by the key, not by the id: after an eviction, a late enqueue may create a new entry
    // with the same id.
    if (entry) this.#traces.erase(queue, entry.key);
    return this.#drop(entry);
  }

  /** Removes the entries that earlier clients of the session enqueued and the present client has not enqueued again. */
  removeUnclaimed(sessionId: string): void {
    this.#sessions.requireAlive(sessionId);
    const tenancy = this.#sessions.tenancyOf(sessionId);
    for (const entry of this.#queues.unclaimed({ sessionId, tenancy })) this.remove(sessionId, entry);
  }

  evictFrom(queue: string, { key, order }: Pick<StoredEntry, 'key' | 'order'>): boolean {
    if (!key.startsWith(`${queue}/`) || !/^\d+$/.test(key.slice(queue.length + 1))) {
      throw invalidArgument('key', key, `is the key of an entry of the queue ${JSON.stringify(queue)}`);
    }
    return this.#drop(this.#queues.in(queue).find((entry) => entry.key === key && entry.order === order));
  }

  /** Stores a trace of a hold. Returns the other traces of the queue whose entries no longer exist. */
  leaveTrace(sessionId: string, { queue, id }: EntryRef): readonly string[] {
    this.#sessions.requireAlive(sessionId);
    const own = this.#queues.own(sessionId, { queue, id });
    if (!own) throw new QueueLockError('ENTRY_LOST', `no entry ${id} is in the queue`);
    this.#traces.leave(queue, own.key);
    const present = new Set(this.#queues.in(queue).map(({ key }) => key));
    return this.#traces.of(queue).filter((key) => !present.has(key));
  }

  eraseTraces(sessionId: string, queue: string, traces: readonly string[]): void {
    this.#sessions.requireAlive(sessionId);
    for (const key of traces) this.#traces.erase(queue, key);
  }

  /** Returns the limit of the nearest entry ahead that has another limit; see `Placement.otherLimit`. */
  otherLimit(entry: Entry): number | undefined {
    return otherLimit(this.#queues.in(entry.queue), entry);
  }

  /** Emits the turns of an entry; see `Placement.turns$`. */
  follow(entry: Entry): Observable<Entry['turn']> {
    return turnsOf(entry, (change) => (this.#watchers += change));
  }

  /** Emits the entries of a queue: at once, then after every change. */
  observe = (name: string): Observable<readonly StoredEntry[]> => this.#counted(this.#queues.observe(name));

  /** Emits the queues that are not empty: at once, then after changes. */
  observeQueues(prefix: string): Observable<readonly ListedQueue[]> {
    return this.#counted(observeQueues(this, this.#queues.moves$, prefix));
  }

  /** Emits a register: at once, then after every write. */
  observeRegister(queue: string, kind: string): Observable<Register | undefined> {
    return this.#counted(this.registers.observe(queue, kind));
  }

  #requireSame(sessionId: string, spec: EntrySpec): void {
    const known = this.#queues.of(sessionId, spec.id);
    if (known) requireSameEntry(known, spec);
  }

  #drop(entry: Entry | undefined): boolean {
    if (entry) this.#queues.drop(entry);
    return entry !== undefined;
  }

  #counted<T>(source$: Observable<T>): Observable<T> {
    return new Observable((subscriber) => {
      this.#watchers += 1;
      subscriber.add(() => (this.#watchers -= 1));
      return source$.subscribe(subscriber);
    });
  }
}

interface EntryRef {
  readonly queue: string;
  readonly id: string;
}

function inspect({ sessionId, permits = 1, turn, ...entry }: Entry): MemoryEntry {
  const { key, order, shared, value, id, limit } = entry;
  return { key, order, shared, value, id, sessionId, limit, permits, admitted: turn.admitted };
}
