import {
  QueueLockError,
  systemClock,
  type Clock,
  type EntrySpec,
  type QueueLockErrorCode,
  type SeenEntry,
} from '@queuelock/core/backend';
import type { MemoryEntry, MemoryServer, MemoryServerOptions } from './memory-server.ts';
import { Queue, turnBehind, type Entry } from './queue.ts';
import { BehaviorSubject, Observable } from './rx.ts';
import { Sessions } from './sessions.ts';
import { Traces } from './traces.ts';

/**
 * The coordination server, in this process: queues, sessions, one counter. Every call takes effect at once and
 * synchronously, including the turns that it gives to others. Orders and tokens are one number that grows for as long
 * as the server lives.
 */
export class Server implements MemoryServer {
  readonly clock: Clock;
  readonly name: string;
  readonly #queues = new Map<string, Queue>();
  readonly #sessions: Sessions;
  readonly #traces = new Traces();
  #counter = 0n;
  #wakeUps = 0;
  #watchers = 0;

  constructor({ clock = systemClock(), name = '' }: MemoryServerOptions) {
    this.clock = clock;
    this.name = name;
    this.#sessions = new Sessions(clock, (id) => this.#dropEntriesOf(id));
  }

  // --- what a test or an operator looks at and does

  queues(): ReadonlyMap<string, readonly MemoryEntry[]> {
    const filled = [...this.#queues.values()].filter(({ entries }) => entries.length > 0);
    return new Map(filled.map(({ name, entries }) => [name, entries.map(inspect)]));
  }

  get entryCount(): number {
    return [...this.#queues.values()].reduce((count, { entries }) => count + entries.length, 0);
  }

  get watcherCount(): number {
    return this.#watchers;
  }

  get wakeUps(): number {
    return this.#wakeUps;
  }

  get sessionIds(): readonly string[] {
    return this.#sessions.ids;
  }

  expireSession(id: string): boolean {
    return this.#sessions.end(id);
  }

  evict(key: string): boolean {
    for (const queue of this.#queues.values()) {
      const entry = queue.entries.find((candidate) => candidate.key === key);
      if (entry) return this.#drop(queue, entry);
    }
    return false;
  }

  close(): void {
    for (const id of this.#sessions.ids) this.#sessions.end(id);
  }

  // --- what a connection calls; the promises are those of `Session` and `Backend`

  /** Opens a session and answers its id. */
  open(ttlMs: number): string {
    const id = `session-${String(++this.#counter)}`;
    this.#sessions.open(id, ttlMs);
    return id;
  }

  renew(sessionId: string): number {
    return this.#sessions.renew(sessionId);
  }

  end(sessionId: string): void {
    this.#sessions.end(sessionId);
  }

  enqueue(sessionId: string, spec: EntrySpec): Entry {
    this.#sessions.requireAlive(sessionId);
    const queue = this.#queue(spec.queue);
    return queue.find(spec.id) ?? this.#join(queue, sessionId, spec);
  }

  tryEnqueue(sessionId: string, spec: EntrySpec): Entry | undefined {
    this.#sessions.requireAlive(sessionId);
    const queue = this.#queues.get(spec.queue);
    const turn = queue?.find(spec.id)?.turn ?? turnBehind(queue?.entries ?? [], spec);
    return turn.admitted ? this.enqueue(sessionId, spec) : undefined;
  }

  update(sessionId: string, ref: { queue: string; id: string }, value: string): boolean {
    this.#sessions.requireAlive(sessionId);
    const queue = this.#queues.get(ref.queue);
    const entry = queue?.find(ref.id);
    if (!queue || !entry) return false;
    entry.value = value;
    queue.changed();
    return true;
  }

  remove(name: string, id: string): boolean {
    const queue = this.#queues.get(name);
    const entry = queue?.find(id);
    if (!queue || !entry) return false;
    this.#traces.erase(name, id);
    return this.#drop(queue, entry);
  }

  /** Answers the traces of holds whose entries are gone. */
  leaveTrace(sessionId: string, { queue, id }: { queue: string; id: string }): readonly string[] {
    this.#sessions.requireAlive(sessionId);
    const entries = this.#queues.get(queue);
    if (!entries?.find(id)) throw new QueueLockError('ENTRY_LOST', `no entry ${id} is in the queue`);
    this.#traces.leave(queue, id);
    return this.#traces.of(queue).filter((other) => !entries.find(other));
  }

  eraseTraces(sessionId: string, queue: string, traces: readonly string[]): void {
    this.#sessions.requireAlive(sessionId);
    for (const id of traces) this.#traces.erase(queue, id);
  }

  /** The turns of an entry, as in `Placement.turns$`. */
  follow(entry: Entry): Observable<Entry['turn']> {
    return this.#counted(entry.turn$);
  }

  /** A queue now and after every change. */
  observe(name: string): Observable<readonly SeenEntry[]> {
    const seen$ = new Observable<readonly SeenEntry[]>((subscriber) => {
      const queue = this.#queue(name);
      const watch = queue.observe().subscribe(subscriber);
      watch.add(() => this.#forgetIfIdle(queue));
      return watch;
    });
    return this.#counted(seen$);
  }

  #join(queue: Queue, sessionId: string, spec: EntrySpec): Entry {
    const order = ++this.#counter;
    const turn = turnBehind(queue.entries, spec);
    // The order is unique in the whole server, so the key is, whatever slashes the name has.
    const key = `${spec.queue}/${String(order)}`;
    const entry = { value: '', ...spec, sessionId, order, key, turn, turn$: new BehaviorSubject(turn) };
    queue.entries.push(entry);
    queue.changed();
    return entry;
  }

  #drop(queue: Queue, entry: Entry): true {
    queue.take(entry);
    entry.turn$.error(gone('ENTRY_LOST', entry));
    this.#closeRanks(queue);
    return true;
  }

  /** The dead learn it first, then the living get their turns: no two of them own at the same time. */
  #dropEntriesOf(sessionId: string): void {
    const dead = [...this.#queues.values()].flatMap(({ entries }) =>
      entries.filter((entry) => entry.sessionId === sessionId),
    );
    for (const entry of dead) this.#queue(entry.queue).take(entry);
    for (const entry of dead) entry.turn$.error(gone('SESSION_LOST', entry));
    for (const name of new Set(dead.map(({ queue }) => queue))) this.#closeRanks(this.#queue(name));
  }

  /** Somebody has left: those whose turn it is learn it before those who only look. */
  #closeRanks(queue: Queue): void {
    const promoted = queue.promote();
    this.#wakeUps += promoted.length;
    for (const { turn$, turn } of promoted) turn$.next(turn);
    queue.changed();
    this.#forgetIfIdle(queue);
  }

  #queue(name: string): Queue {
    const queue = this.#queues.get(name) ?? new Queue(name);
    this.#queues.set(name, queue);
    return queue;
  }

  #forgetIfIdle(queue: Queue): void {
    // Another queue of the same name may have been made since.
    if (queue.idle && this.#queues.get(queue.name) === queue) this.#queues.delete(queue.name);
  }

  #counted<T>(source$: Observable<T>): Observable<T> {
    return new Observable((subscriber) => {
      this.#watchers += 1;
      subscriber.add(() => (this.#watchers -= 1));
      return source$.subscribe(subscriber);
    });
  }
}

function inspect({ key, order, shared, value, id, sessionId, limit, turn }: Entry): MemoryEntry {
  return { key, order, shared, value, id, sessionId, limit, admitted: turn.admitted };
}

function gone(code: QueueLockErrorCode & `${string}_LOST`, { key }: Entry): QueueLockError {
  const cause = code === 'ENTRY_LOST' ? 'it was removed' : 'its session has ended';
  return new QueueLockError(code, `the entry ${key} is not in the queue any more: ${cause}`);
}
