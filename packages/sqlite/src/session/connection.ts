import { systemClock, type Turn } from '@queuelock/core/backend';
import { keyOf, type EntryPosition } from '../queue/entries.ts';
import { fileMissing } from '../driver/errors.ts';
import { Followers, turnsOf, type Follower } from '../turn/followers.ts';
import { openInbox, type Inbox } from '../turn/inbox.ts';
import { checkWithOtherProcesses } from '../turn/inquiry.ts';
import { Observers } from '../turn/observers.ts';
import { machineTime, ownMark } from '../base/machine.ts';
import { Neighbours } from '../turn/neighbours.ts';
import { openFile, type OpenFile } from '../file/opening.ts';
import { Peers } from '../turn/peers.ts';
import { Poller } from '../base/poller.ts';
import type { Observable } from '../base/rx.ts';
import type { Home, SessionGeneration } from '../queue/sessions.ts';
import { Store, type EntryNotification } from '../file/store.ts';

/** The interval at which waiters poll the file in milliseconds, in case a notification is lost. */
const WAITER_POLL_MS = 250;
/**
 * Time from the start of a wait to the first poll of the file, in milliseconds. That poll finds the processes
 * to watch. Most waits end before it.
 */
const FIRST_POLL_MS = 20;
/** The interval at which observers poll the file, since other processes send them no notifications. */
const OBSERVER_POLL_MS = 50;
const NONE = -1;

/** An open file: its tables, and the notifications between the processes that have it open. */
export class Connection {
  readonly store: Store;
  readonly home: Home;
  readonly #inbox: Inbox;
  readonly #peers: Peers;
  readonly #neighbours: Neighbours;
  readonly #followers = new Followers();
  readonly #observers: Observers;
  readonly #poller: Poller;
  #dataVersion = NONE;

  /**
   * Opens the file and the inbox of this process.
   * @throws {QueueLockError} `INVALID_ARGUMENT`, `ACCESS_DENIED`, or `UNAVAILABLE` when another try may succeed
   */
  static async open(file: string): Promise<Connection> {
    const opened = await openFile(file, { clock: systemClock(), beforeOpening: checkWithOtherProcesses });
    let connection: Connection | undefined;
    try {
      const inbox = await openInbox(opened.path, {
        onEntry: (ord) => connection?.readEntry(ord),
        onInquiry: () => connection?.checkFile(),
      });
      return (connection = new Connection(opened, inbox));
    } catch (error) {
      opened.db.close();
      throw error;
    }
  }

  private constructor(file: OpenFile, inbox: Inbox) {
    this.#inbox = inbox;
    this.home = { ...ownMark(), inbox: inbox.path };
    this.store = new Store(file, {
      clock: systemClock(),
      onStep: (notifications) => this.#notify(notifications),
    });
    this.#peers = new Peers(file.path, (closed) => this.#neighbours.suspect(closed));
    this.#neighbours = new Neighbours(this.store, this.home, this.#peers);
    this.#observers = new Observers(file.path);
    this.#poller = new Poller(() => this.#poll());
  }

  /** Returns a stream of the status of an entry, for `Placement.turns$`. */
  follow(
    queue: string,
    { num }: SessionGeneration,
    { ord, admitted, ahead }: EntryPosition,
  ): Observable<Turn> {
    const turn = { admitted, ...(ahead === undefined ? {} : { ahead }) };
    const followed = { queue, session: num, ord, key: keyOf(queue, ord), turn };
    const isNew = !this.#followers.queues.has(queue);
    return turnsOf(this.#followers, followed, (follower) => {
      if (!admitted) this.readEntry(follower.ord);
      this.#poller.pollWithin(isNew && !admitted ? FIRST_POLL_MS : WAITER_POLL_MS);
    });
  }

  /** Emits the result of `read` now, and whenever the result has changed. */
  watch<T>(read: () => T, apartMs?: number): Observable<T> {
    this.#poller.pollWithin(OBSERVER_POLL_MS);
    return this.#observers.watch(read, apartMs);
  }

  /** Reads an entry that may have been admitted or removed, and notifies the listeners of the entry. */
  readEntry(ord: number): void {
    const followers = this.#followers.of(ord);
    if (followers.length === 0) return;
    this.#unlessBusy(() => {
      for (const follower of followers) this.#update(follower, this.store.views.turnOf(follower.queue, ord));
    });
  }

  /** Checks the file and its side files. If one was removed or replaced, ends all sessions and closes the file. */
  checkFile(): void {
    if (this.store.fileExists()) return;
    this.#loseAll(fileMissing(this.store.file.path));
    this.store.close();
  }

  close(): void {
    if (this.store.isFileLost) this.#loseAll(fileMissing(this.store.file.path));
    this.#poller.close();
    this.#observers.close();
    this.#neighbours.close();
    this.#peers.close();
    this.#inbox.close();
    this.store.close();
  }

  /** Sends the notifications of a committed step. */
  #notify(notifications: readonly EntryNotification[]): void {
    const own = notifications.filter(({ inbox }) => inbox === this.home.inbox);
    // Other processes are notified first, because a message to them takes longer than a call in this process.
    for (const { inbox, ord } of notifications) if (inbox !== this.home.inbox) this.#peers.notify(inbox, ord);
    for (const { ord } of own) this.readEntry(ord);
    this.#observers.readSoon();
  }

  #poll(): number | undefined {
    if (this.#followers.size === 0 && this.#observers.size === 0) return undefined;
    let nextMs = this.#observers.size > 0 ? OBSERVER_POLL_MS : WAITER_POLL_MS;
    this.#unlessBusy(() => {
      this.#readChanges();
      nextMs = Math.max(1, Math.min(nextMs, this.#msToNextEnd()));
    });
    return nextMs;
  }

  #readChanges(): void {
    this.store.requireFile();
    const dataVersion = this.store.views.dataVersion();
    if (dataVersion !== this.#dataVersion) {
      this.#dataVersion = dataVersion;
      this.#readAll();
      this.#observers.readAll();
    }
    this.#observers.readDue();
    const queues = [...this.#followers.queues.keys()];
    this.#neighbours.watch(queues);
    const stuck = queues.filter((queue) => this.store.entries.isStuck(queue));
    // Runs a step, because every step first ends expired sessions and admits stuck entries. If it fails, the
    // next poll of the file runs another step.
    if (stuck.length > 0 || this.#msToNextEnd() <= 0) this.#admitMissed(stuck).catch(() => undefined);
  }

  #admitMissed(queues: readonly string[]): Promise<void> {
    return this.store.write(() => {
      for (const queue of queues) this.store.entries.admitMissed(queue);
    });
  }

  #msToNextEnd(): number {
    const end = this.store.sessions.earliestEnd();
    return end === undefined ? Infinity : Math.ceil((end - machineTime()) / 1_000);
  }

  #readAll(): void {
    const followers = this.#followers.all;
    const sessions = new Set(followers.map(({ session }) => session));
    const turns = new Map([...sessions].map((session) => [session, this.store.views.turnsOf(session)]));
    for (const follower of followers) this.#update(follower, turns.get(follower.session)?.get(follower.ord));
  }

  #update(follower: Follower, admitted: boolean | undefined): void {
    if (admitted !== undefined) follower.update(admitted);
    else follower.update(this.store.sessions.home(follower.session) ? 'ENTRY_LOST' : 'SESSION_LOST');
  }

  /** Runs a read for listeners. If the file is locked, the next poll repeats the read. If the file was removed, ends all sessions. */
  #unlessBusy(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#dataVersion = NONE;
      if (this.store.ended) this.#loseAll(error);
    }
  }

  #loseAll(error: unknown): void {
    for (const follower of this.#followers.all) follower.update('SESSION_LOST');
    this.#observers.fail(error);
  }
}
