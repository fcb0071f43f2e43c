import { randomBytes } from 'node:crypto';
import {
  HeadLeaseTimer,
  readings,
  type Clock,
  type ReadingSource,
  type EntryTracker,
} from '@queuelock/core/backend';
import type { Driver } from '../driver/driver.ts';
import { endsInMs } from '../turn/ends.ts';
import { NotificationListener } from '../server/notification-listener.ts';
import { PubSubHealthCheck } from '../server/pub-sub-health-check.ts';
import type { Keys } from '../queue/keys.ts';
import { Link } from '../server/link.ts';
import { Subject, defer, finalize, type Observable } from '../base/rx.ts';
import { SCRIPTS } from '../queue/scripts.ts';
import { singleKeyFor, type SingleKeyOf } from '../api/single-key.ts';
import { Steps } from '../server/steps.ts';
import type { Placed } from '../turn/placed.ts';

interface Settings {
  readonly driver: Driver;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly withinMs: number;
  readonly singleKeyOf: SingleKeyOf | undefined;
}

/** A session of this process, with the methods by which the connection notifies it. */
export interface Resident {
  readonly id: string;
  readonly entries: EntryTracker<Placed>;
  /** Called for each notification, with its number. A gap between two numbers means that notifications were missed. */
  notified(nth: number): void;
  /** Called when the session may have missed notifications. It then reads its state from the store. */
  readState(): void;
}

/** Data that an observer watches: the function that reads it, and the channel on which changes are announced. */
interface Watched<T> extends Pick<ReadingSource<T>, 'read' | 'pauseMs'> {
  /** The channel that receives a message when the data has changed. */
  readonly channel: string;
}

/** The two connections of a backend, which all its sessions share: one sends commands, the other receives notifications. */
export class Connection {
  readonly keys: Keys;
  readonly steps: Steps;
  readonly inbox: string;
  readonly headLeases: HeadLeaseTimer;
  /** Emits when the connection for commands has broken, and when it is open again. Notifications may have been missed then. */
  readonly doubts$: Observable<void>;
  readonly #doubts$ = new Subject<void>();
  readonly #clock: Clock;
  readonly #singleKeyOf: SingleKeyOf | undefined;
  readonly #link: Link;
  readonly #notifications: NotificationListener;
  readonly #healthCheck: PubSubHealthCheck;
  readonly #residents = new Map<string, Resident>();
  readonly #watched = new Map<string, number>();
  #listens = false;
  #calls = 0;

  constructor({ driver, keys, clock, withinMs, singleKeyOf }: Settings) {
    this.#singleKeyOf = singleKeyOf;
    this.doubts$ = this.#doubts$;
    this.keys = keys;
    this.inbox = keys.inbox(randomBytes(12).toString('hex'));
    this.#clock = clock;
    this.#link = new Link(driver, {
      clock,
      withinMs,
      onDown: () => {
        // When the connection for commands has broken, the connection for notifications is reopened too.
        // Notifications must come from the server that executes the commands.
        this.#notifications.renew(new Error('the connection for steps broke'));
        this.#doubts$.next();
      },
      // After a reconnect, the server may be another one or may have lost data, so all sessions read their
      // entries again.
      onUp: async () => {
        setImmediate(() => {
          this.#doubts$.next();
          this.#readState();
        });
      },
    });
    this.#notifications = new NotificationListener(driver, { clock, withinMs });
    this.#healthCheck = new PubSubHealthCheck({
      clock,
      withinMs,
      say: () => this.#link.send(['PUBLISH', this.inbox, '']),
      onDeaf: () => {
        this.#notifications.renew(
          new Error(`${driver.endpoint}: a message that this client published was not delivered to it`),
        );
      },
    });
    this.steps = new Steps(this.#link, { keys, endpoint: driver.endpoint });
    this.headLeases = new HeadLeaseTimer({
      clock,
      readLeaseEnds: async (queues) => {
        const { rest } = await this.steps.take(SCRIPTS.ends, ...queues);
        return (rest[0] as readonly number[]).map(endsInMs);
      },
      isWanted: (queue) =>
        this.#watched.has(queue) ||
        [...this.#residents.values()].some(({ entries }) => entries.waitsIn(queue)),
    });
  }

  /** Returns the key that `singleKey` names for a queue. @throws {QueueLockError} `INVALID_ARGUMENT` when the key is unsuitable */
  singleKeyFor(queue: string): string | undefined {
    return singleKeyFor(this.#singleKeyOf, { root: this.keys.root, queue });
  }

  /**
   * Returns a number for a new call. Later calls have higher numbers, so that the reply to an earlier call does not replace what a later
   * reply has shown.
   */
  nextCall(): number {
    return (this.#calls += 1);
  }

  /**
   * Resolves when this process is subscribed to the channel for its notifications.
   * @throws {QueueLockError} when it cannot connect
   */
  async open(): Promise<void> {
    this.#link.keep();
    this.#listen();
    await this.#notifications.up();
  }

  /**
   * Passes notifications about a session to the object `resident` of that session, until `leave` is called
   * with the same object.
   */
  settle(resident: Resident): void {
    this.#residents.set(resident.id, resident);
  }

  leave(resident: Resident): void {
    // If this process has resumed the session meanwhile, `#residents` contains a newer object for the
    // session. That object must stay.
    if (this.#residents.get(resident.id) === resident) this.#residents.delete(resident.id);
  }

  /** Emits the data that an observer watches: at once, and again after each change. */
  watch<T>({ channel, ...lastRead }: Watched<T>): Observable<T> {
    this.#listen();
    return readings({
      clock: this.#clock,
      ...lastRead,
      follow: (changed, onRefused) => {
        const end = this.#notifications.listen(channel, { onMessage: changed, onReady: changed, onRefused });
        this.#notifications.up().catch(onRefused);
        return end;
      },
    });
  }

  /**
   * Emits the data of one queue at once, and again after each change. Reads also when the lease of a session
   * may have ended.
   */
  watchQueue<T>(queue: string, lastRead: Pick<ReadingSource<T>, 'read' | 'pauseMs'>): Observable<T> {
    return defer(() => {
      const end = this.#watching(queue);
      return this.watch({ channel: this.keys.queue(queue), ...lastRead }).pipe(finalize(end));
    });
  }

  close(): void {
    this.headLeases.close();
    this.#healthCheck.close();
    this.#notifications.close();
    this.#link.close();
  }

  #listen(): void {
    if (this.#listens) return;
    this.#listens = true;
    this.#notifications.listen(this.inbox, {
      onMessage: (message) => {
        this.#healthCheck.messageArrived();
        for (const output of message.split(' ')) this.#receive(output);
      },
      onReady: () => {
        this.#readState();
      },
    });
    this.#notifications.listen(this.keys.everybody, {
      onMessage: () => {
        this.#readState();
      },
      onReady: () => undefined,
    });
    this.#healthCheck.begin();
  }

  #watching(queue: string): () => void {
    this.#watched.set(queue, (this.#watched.get(queue) ?? 0) + 1);
    return () => {
      const left = (this.#watched.get(queue) ?? 0) - 1;
      if (left > 0) this.#watched.set(queue, left);
      else this.#watched.delete(queue);
    };
  }

  /**
   * Handles one notification. Its text is `session:nth:kind:number/id`: the session, the number of the
   * notification, its kind, and the number and id of the entry.
   */
  #receive(output: string): void {
    const [id = '', nth, kind = '', ref = ''] = output.split(':');
    const resident = this.#residents.get(id);
    if (kind === 'ended') resident?.entries.endSession();
    else resident?.entries.notify(ref, kind === 'admitted' ? true : 'ENTRY_LOST', this.#calls);
    resident?.notified(Number(nth));
  }

  #readState(): void {
    for (const resident of this.#residents.values()) resident.readState();
  }
}
