import { randomBytes } from 'node:crypto';
import {
  HeadLeaseTimer,
  readings,
  withJitter,
  type Clock,
  type ReadingSource,
  type EntryTracker,
} from '@queuelock/core/backend';
import type { Advisory } from '../advisory/advisory-holds.ts';
import type { AdvisoryKeyOf } from '../advisory/advisory-key.ts';
import { AdvisoryWires } from '../advisory/advisory-wires.ts';
import type { Driver } from '../driver/driver.ts';
import { NotificationListener } from '../server/notification-listener.ts';
import { Opener } from '../server/opener.ts';
import { Pool } from '../server/pool.ts';
import { Subject, defer, finalize, type Observable } from '../base/rx.ts';
import { Steps, type Answer } from '../server/steps.ts';
import type { Placed } from '../turn/placed.ts';
import { storedText } from '../queue/text.ts';

interface Settings {
  readonly driver: Driver;
  readonly schema: string;
  readonly migrate: boolean;
  readonly clock: Clock;
  readonly withinMs: number;
  readonly most: number;
  readonly advisoryKeyOf: AdvisoryKeyOf | undefined;
}

/** A session of this process, with the method by which the connection notifies it. */
export interface Resident {
  readonly id: string;
  readonly entries: EntryTracker<Placed>;
  /** Reads the entries of the session again, because the client may have missed notifications. */
  readState(): void;
}

// Interval of polling when no notifications arrive, in milliseconds.
const POLL_MS = 120;
// Milliseconds after which observers of a queue read it again. A read enables notifications of changes for
// one minute only.
const AGAIN_AFTER_MS = 20_000;
// Minimum delay before leases are read again, in milliseconds. It gives another client time to end an expired
// session first.
const LEAST_MS = 20;

/**
 * The connections of a backend, which all of its sessions share: several for steps, and one for notifications
 * and heartbeats.
 */
export class Connection {
  readonly steps: Steps;
  readonly inbox: string;
  readonly headLeases: HeadLeaseTimer;
  readonly advisory: Advisory;
  /** Emits when a connection to the server broke. */
  readonly doubts$: Observable<void>;
  readonly #clock: Clock;
  readonly #channel: string;
  readonly #opener: Opener;
  readonly #pool: Pool;
  readonly #notifications: NotificationListener;
  readonly #residents = new Map<string, Resident>();
  readonly #watched = new Map<string, number>();
  #listens = false;
  #cancelPoll: (() => void) | undefined;
  #isClosed = false;
  #calls = 0;

  constructor({ driver, schema, migrate, clock, withinMs, most, advisoryKeyOf }: Settings) {
    const doubts$ = new Subject<void>();
    this.doubts$ = doubts$;
    this.inbox = `${schema}:${randomBytes(12).toString('hex')}`;
    this.#channel = `${schema}:look`;
    this.#clock = clock;
    this.#opener = new Opener(driver, { clock, withinMs });
    const onDown = (): void => {
      // Reports the broken connection only after the statements on it have rejected.
      setImmediate(() => {
        doubts$.next();
        this.#readState();
      });
    };
    this.#pool = new Pool(driver, this.#opener, { clock, withinMs, most, onDown });
    this.#notifications = new NotificationListener(driver, this.#opener, {
      clock,
      withinMs,
      inbox: this.inbox,
      say: () => this.#pool.run("select pg_notify($1, '')", [this.inbox]),
      onDown,
      onDeaf: () => {
        this.#poll();
      },
    });
    this.steps = new Steps(this.#pool, { endpoint: driver.endpoint, schema, migrate });
    const [opener, pool] = [this.#opener, this.#pool];
    const hasOwn = (): Promise<boolean> => this.#receivesNotifications();
    this.advisory = {
      wires: new AdvisoryWires({ driver, opener, pool, clock, withinMs, hasOwn, spare: most }),
      keyOf: advisoryKeyOf,
      endpoint: driver.endpoint,
    };
    this.headLeases = this.#newHeadLeaseTimer();
  }

  /** Whether no notifications arrive, as behind a pooler in transaction mode. */
  get isDeaf(): boolean {
    return this.#notifications.isDeaf;
  }

  /**
   * Returns a number for a new request of a session. Numbers grow with each request, so that a late reply to
   * an earlier request does not replace newer information.
   */
  nextCall(): number {
    return (this.#calls += 1);
  }

  /**
   * Resolves when this process listens to the channel for its own notifications, or when it has found that no
   * notifications arrive.
   * @throws {QueueLockError} when it cannot connect
   */
  async open(): Promise<void> {
    this.#listen();
    await this.#notifications.up();
  }

  /**
   * Sends a heartbeat on the connection for notifications, where it waits for no step.
   * @throws {QueueLockError} for the reasons of `Steps.take`
   */
  sendHeartbeat<T>(name: string, ...values: readonly (string | number)[]): Promise<Answer & T> {
    return this.steps.takeOn<T>((text, given) => this.#notifications.ask(text, given), name, ...values);
  }

  /** Adds a session of this process. The connection passes notifications to it until `leave` is called. */
  settle(resident: Resident): void {
    this.#residents.set(resident.id, resident);
  }

  leave(resident: Resident): void {
    // Removes the session only if the map still contains this object. If a session with the same id was
    // resumed in this process, the map contains the newer object.
    if (this.#residents.get(resident.id) === resident) this.#residents.delete(resident.id);
  }

  /** Emits data of a queue at once, and again whenever it has changed. */
  watchQueue<T>(queue: string, lastRead: Pick<ReadingSource<T>, 'read' | 'pauseMs'>): Observable<T> {
    this.#listen();
    const stored = storedText(queue);
    const seen$ = readings({
      clock: this.#clock,
      againAfterMs: AGAIN_AFTER_MS,
      ...lastRead,
      follow: (changed, refused) => {
        const onMessage = (output: string): void => {
          if (output === stored) changed();
        };
        const end = this.#notifications.listen(this.#channel, { onMessage, onReady: changed });
        this.#notifications.up().catch(refused);
        return end;
      },
    });
    return defer(() => seen$.pipe(finalize(this.#watching(queue))));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPoll?.();
    this.headLeases.close();
    this.#notifications.close();
    this.advisory.wires.close();
    this.#pool.close();
    this.#opener.close();
  }

  async #receivesNotifications(): Promise<boolean> {
    await this.open();
    return !this.isDeaf;
  }

  #newHeadLeaseTimer(): HeadLeaseTimer {
    return new HeadLeaseTimer({
      clock: this.#clock,
      readLeaseEnds: async (queues) => {
        const { ends } = await this.steps.take<{ readonly ends: readonly (number | null)[] }>(
          'ends',
          queues.map((queue) => storedText(queue)),
        );
        return ends;
      },
      isWanted: (queue) =>
        this.#watched.has(queue) ||
        [...this.#residents.values()].some(({ entries }) => entries.waitsIn(queue)),
      minDelayMs: LEAST_MS,
    });
  }

  #listen(): void {
    if (this.#listens) return;
    this.#listens = true;
    this.#notifications.listen(this.inbox, {
      onMessage: (message) => {
        this.#receive(message);
      },
      onReady: () => {
        this.#readState();
      },
    });
  }

  /** Polls for waiters and observers as long as notifications do not arrive. */
  #poll(): void {
    this.#cancelPoll?.();
    if (this.#isClosed || !this.#notifications.isDeaf) return;
    this.#cancelPoll = this.#clock.after(withJitter(POLL_MS, this.#clock), () => {
      for (const resident of this.#residents.values()) if (resident.entries.anyWaits) resident.readState();
      if (this.#watched.size > 0) this.#notifications.alert();
      this.#poll();
    });
  }

  #watching(queue: string): () => void {
    this.#watched.set(queue, (this.#watched.get(queue) ?? 0) + 1);
    return () => {
      const left = (this.#watched.get(queue) ?? 0) - 1;
      if (left > 0) this.#watched.set(queue, left);
      else this.#watched.delete(queue);
    };
  }

  /** Handles one notification. Its text is `session:kind:number/id`, with the number and the id of the entry. */
  #receive(output: string): void {
    const [id = '', kind = '', ref = ''] = output.split(':');
    const entries = this.#residents.get(id)?.entries;
    if (kind === 'ended') entries?.endSession();
    else entries?.notify(ref, kind === 'admitted' ? true : 'ENTRY_LOST', this.#calls);
  }

  #readState(): void {
    for (const resident of this.#residents.values()) resident.readState();
  }
}
