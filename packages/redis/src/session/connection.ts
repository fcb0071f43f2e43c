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

/** A session of this process, as its connection sees it. */
export interface Resident {
  readonly id: string;
  readonly entries: EntryTracker<Placed>;
  /** News of that number came: they are numbered, so that it shows when some were missed. */
  heard(nth: number): void;
  /** Something may have been missed. */
  lookAround(): void;
}

/** Something in the store that somebody looks at. */
interface Watched<T> extends Pick<ReadingSource<T>, 'read' | 'pauseMs'> {
  /** On which it is said that it has changed. */
  readonly channel: string;
}

/** One connection for steps, and one that hears what others say. */
export class Connection {
  readonly keys: Keys;
  readonly steps: Steps;
  readonly inbox: string;
  readonly headLeases: HeadLeaseTimer;
  /** A connection has broken or is there again. */
  readonly doubts$: Observable<void>;
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
    const doubts$ = new Subject<void>();
    const doubt = (): void => {
      doubts$.next();
    };
    this.doubts$ = doubts$;
    this.keys = keys;
    this.inbox = keys.inbox(randomBytes(12).toString('hex'));
    this.#clock = clock;
    this.#link = new Link(driver, {
      clock,
      withinMs,
      onDown: () => {
        // Both are to lead to the same server.
        this.#notifications.renew(new Error('the connection for steps broke'));
        doubt();
      },
      // The server may be another one, or have forgotten.
      onUp: async () => {
        setImmediate(() => {
          doubt();
          this.#lookAround();
        });
      },
    });
    this.#notifications = new NotificationListener(driver, { clock, withinMs });
    this.#healthCheck = new PubSubHealthCheck({
      clock,
      withinMs,
      say: () => this.#link.send(['PUBLISH', this.inbox, '']),
      onDeaf: () => {
        this.#notifications.renew(new Error(`${driver.endpoint}: what it was asked to publish did not come`));
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

  /** @throws {QueueLockError} `INVALID_ARGUMENT` */
  singleKeyFor(queue: string): string | undefined {
    return singleKeyFor(this.#singleKeyOf, { root: this.keys.root, queue });
  }

  /** Grows with every call: what is asked for later is known later. */
  nextCall(): number {
    return (this.#calls += 1);
  }

  /** Resolves when the inbox is heard. @throws {QueueLockError} */
  async open(): Promise<void> {
    this.#link.keep();
    this.#listen();
    await this.#notifications.up();
  }

  /** From now on until it leaves, the news of a session reach it. */
  settle(resident: Resident): void {
    this.#residents.set(resident.id, resident);
  }

  leave(resident: Resident): void {
    // Who resumes a session in this process takes the place of the one before.
    if (this.#residents.get(resident.id) === resident) this.#residents.delete(resident.id);
  }

  /** What is read, now and whenever it has changed. */
  watch<T>({ channel, ...looked }: Watched<T>): Observable<T> {
    this.#listen();
    return readings({
      clock: this.#clock,
      ...looked,
      follow: (changed, onRefused) => {
        const end = this.#notifications.listen(channel, { onMessage: changed, onReady: changed, onRefused });
        this.#notifications.up().catch(onRefused);
        return end;
      },
    });
  }

  /** As `watch`, of a queue, which also changes when leases end. */
  watchQueue<T>(queue: string, looked: Pick<ReadingSource<T>, 'read' | 'pauseMs'>): Observable<T> {
    return defer(() => {
      const end = this.#watching(queue);
      return this.watch({ channel: this.keys.queue(queue), ...looked }).pipe(finalize(end));
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
        this.#healthCheck.heard();
        for (const said of message.split(' ')) this.#hear(said);
      },
      onReady: () => {
        this.#lookAround();
      },
    });
    this.#notifications.listen(this.keys.everybody, {
      onMessage: () => {
        this.#lookAround();
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

  /** `session:number:kind:order` */
  #hear(said: string): void {
    const [id = '', nth, kind = '', ord = ''] = said.split(':');
    const resident = this.#residents.get(id);
    if (kind === 'ended') resident?.entries.endSession();
    else resident?.entries.notify(ord, kind === 'admitted' ? true : 'ENTRY_LOST', this.#calls);
    resident?.heard(Number(nth));
  }

  #lookAround(): void {
    for (const resident of this.#residents.values()) resident.lookAround();
  }
}
