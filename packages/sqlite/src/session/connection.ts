import { systemClock, type Turn } from '@queuelock/core/backend';
import { keyOf, type Place } from '../queue/entries.ts';
import { fileGone } from '../driver/errors.ts';
import { Followers, turnsOf, type Follower } from '../turn/followers.ts';
import { openInbox, type Inbox } from '../turn/inbox.ts';
import { askUsersIfIncomplete } from '../turn/inquiry.ts';
import { Observers } from '../turn/observers.ts';
import { machineTime, ownMark } from '../base/machine.ts';
import { Neighbours } from '../turn/neighbours.ts';
import { openFile, type OpenFile } from '../file/opening.ts';
import { Peers } from '../turn/peers.ts';
import { Rounds } from '../base/rounds.ts';
import type { Observable } from '../base/rx.ts';
import type { Home, Tenancy } from '../queue/sessions.ts';
import { Store, type News } from '../file/store.ts';

/** The polling interval for waiters, in case a notification was lost. */
const WAITING_ROUND_MS = 250;
/** The first polling interval, until the entries at the front are known. Most waits are shorter. */
const FIRST_ROUND_MS = 20;
/** The polling interval for observers, which get no notifications. */
const LOOKING_ROUND_MS = 50;
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
  readonly #rounds: Rounds;
  #dataVersion = NONE;

  /** @throws {QueueLockError} `INVALID_ARGUMENT`, `ACCESS_DENIED`, or `UNAVAILABLE` when another try may succeed */
  static async open(file: string): Promise<Connection> {
    const opened = await openFile(file, { clock: systemClock(), beforeOpening: askUsersIfIncomplete });
    let connection: Connection | undefined;
    try {
      const inbox = await openInbox(opened.path, {
        onTold: (ord) => connection?.lookAt(ord),
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
    this.store = new Store(file, { clock: systemClock(), onStep: (news) => this.#spread(news) });
    this.#peers = new Peers(file.path, (closed) => this.#neighbours.suspect(closed));
    this.#neighbours = new Neighbours(this.store, this.home, this.#peers);
    this.#observers = new Observers(file.path);
    this.#rounds = new Rounds(() => this.#round());
  }

  /** Returns the turns of an entry, as in `Placement.turns$`. */
  follow(queue: string, { num }: Tenancy, { ord, admitted, ahead }: Place): Observable<Turn> {
    const turn = { admitted, ...(ahead === undefined ? {} : { ahead }) };
    const followed = { queue, session: num, ord, key: keyOf(queue, ord), turn };
    const isNew = !this.#followers.queues.has(queue);
    return turnsOf(this.#followers, followed, (follower) => {
      if (!admitted) this.lookAt(follower.ord);
      this.#rounds.begin(isNew && !admitted ? FIRST_ROUND_MS : WAITING_ROUND_MS);
    });
  }

  /** Emits the result of `read`, now and whenever it has changed. */
  watch<T>(read: () => T, apartMs?: number): Observable<T> {
    this.#rounds.begin(LOOKING_ROUND_MS);
    return this.#observers.watch(read, apartMs);
  }

  /** Reads an entry that was admitted or removed, and notifies its followers. */
  lookAt(ord: number): void {
    const followers = this.#followers.of(ord);
    if (followers.length === 0) return;
    this.#unlessBusy(() => {
      for (const follower of followers) this.#show(follower, this.store.views.turnOf(follower.queue, ord));
    });
  }

  /** Ends all sessions at once and closes the file, if the file or a side file was removed or replaced. */
  checkFile(): void {
    if (this.store.isThere()) return;
    this.#loseAll(fileGone(this.store.file.path));
    this.store.close();
  }

  close(): void {
    if (this.store.isGone) this.#loseAll(fileGone(this.store.file.path));
    this.#rounds.close();
    this.#observers.close();
    this.#neighbours.close();
    this.#peers.close();
    this.#inbox.close();
    this.store.close();
  }

  /** Sends the notifications of a committed step. */
  #spread(news: readonly News[]): void {
    const own = news.filter(({ inbox }) => inbox === this.home.inbox);
    // Notifications to other processes go first, because they take longer.
    for (const { inbox, ord } of news) if (inbox !== this.home.inbox) this.#peers.tell(inbox, ord);
    for (const { ord } of own) this.lookAt(ord);
    this.#observers.lookSoon();
  }

  #round(): number | undefined {
    if (this.#followers.size === 0 && this.#observers.size === 0) return undefined;
    let nextMs = this.#observers.size > 0 ? LOOKING_ROUND_MS : WAITING_ROUND_MS;
    this.#unlessBusy(() => {
      this.#lookAround();
      nextMs = Math.max(1, Math.min(nextMs, this.#msToNextEnd()));
    });
    return nextMs;
  }

  #lookAround(): void {
    this.store.requireFile();
    const dataVersion = this.store.views.dataVersion();
    if (dataVersion !== this.#dataVersion) {
      this.#dataVersion = dataVersion;
      this.#lookForAll();
      this.#observers.look();
    }
    this.#observers.lookAgain();
    const queues = [...this.#followers.queues.keys()];
    this.#neighbours.watch(queues);
    const stuck = queues.filter((queue) => this.store.views.isStuck(queue));
    // A step ends expired sessions. If it fails, the next round repeats it.
    if (stuck.length > 0 || this.#msToNextEnd() <= 0) this.#mend(stuck).catch(() => undefined);
  }

  #mend(queues: readonly string[]): Promise<void> {
    return this.store.write(() => {
      for (const queue of queues) this.store.entries.mend(queue);
    });
  }

  #msToNextEnd(): number {
    const end = this.store.sessions.earliestEnd();
    return end === undefined ? Infinity : Math.ceil((end - machineTime()) / 1_000);
  }

  #lookForAll(): void {
    const followers = this.#followers.all;
    const sessions = new Set(followers.map(({ session }) => session));
    const turns = new Map([...sessions].map((session) => [session, this.store.views.turnsOf(session)]));
    for (const follower of followers) this.#show(follower, turns.get(follower.session)?.get(follower.ord));
  }

  #show(follower: Follower, admitted: boolean | undefined): void {
    if (admitted !== undefined) follower.take(admitted);
    else follower.take(this.store.sessions.home(follower.session) ? 'ENTRY_LOST' : 'SESSION_LOST');
  }

  /** Runs a read. If the file is busy, the next round repeats it. If the file was removed, all sessions are lost. */
  #unlessBusy(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.#dataVersion = NONE;
      if (this.store.ended) this.#loseAll(error);
    }
  }

  #loseAll(error: unknown): void {
    for (const follower of this.#followers.all) follower.take('SESSION_LOST');
    this.#observers.fail(error);
  }
}
