import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import type { Clock, EntrySpec, HoldTraces, Placement, Session } from '@queuelock/core/backend';
import { orAborted } from './aborted.ts';
import { Beats } from './beats.ts';
import type { ZkDriver } from './driver.ts';
import { OwnEntry } from './entry.ts';
import { PRIVATE_DIRECTORY, queuePath } from './names.ts';
import { withDirectory } from './parents.ts';
import type { Observable } from './rx.ts';
import { Traces } from './traces.ts';
import { placementOf } from './turns.ts';
import { Watches } from './watches.ts';

/** Where a session lives. */
export interface SessionPlace {
  /** `''` or the chroot. */
  readonly root: string;
  readonly clock: Clock;
}

/** Makes the session's private node, on which its heartbeats are written: on an entry they would wake the next waiter. */
export async function openSession(zk: ZkDriver, place: SessionPlace): Promise<Session> {
  const directory = `${place.root}/${PRIVATE_DIRECTORY}`;
  const privatePath = `${directory}/${zk.sessionId}`;
  await withDirectory(zk, { root: place.root, directory }, async () => {
    const created = await zk.create(privatePath, '', 'ephemeral');
    return created.path !== undefined || created.reason === 'exists' ? true : undefined;
  });
  return new ZooKeeperSession(zk, privatePath, place);
}

class ZooKeeperSession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  readonly #zk: ZkDriver;
  readonly #root: string;
  readonly #clock: Clock;
  readonly #privatePath: string;
  readonly #beats: Beats;
  readonly #watches: Watches;
  readonly #entries = new Map<string, OwnEntry>();

  constructor(zk: ZkDriver, privatePath: string, { root, clock }: SessionPlace) {
    this.id = zk.sessionId;
    this.ttlMs = zk.timeoutMs;
    this.doubts$ = zk.connection$;
    this.#zk = zk;
    this.#root = root;
    this.#clock = clock;
    this.#privatePath = privatePath;
    this.#beats = new Beats(zk.timeoutMs, zk.begunAt);
    this.#watches = new Watches(zk);
    this.traces = new Traces(zk, { root, entryOf: (queue, id) => this.#entries.get(this.#keyOf(queue, id)) });
    zk.connection$.subscribe({
      next: (news) => {
        if (news.status === 'lost') this.#beats.disconnected(news.at);
      },
      error: () => undefined,
    });
  }

  async renew(signal: AbortSignal): Promise<number> {
    const sentAt = this.#clock.now();
    // An answer that comes after the abort still counts for the next one.
    const base = await orAborted(this.#beat(sentAt), signal);
    return Math.max(0, this.ttlMs - (sentAt - base));
  }

  async #beat(sentAt: number): Promise<number> {
    const isThere = await this.#zk.write(this.#privatePath, '', { urgent: true });
    // A server that is set up otherwise grants less at a reconnect; what was proven before that is worth nothing then.
    if (isThere && this.#zk.timeoutMs >= this.ttlMs) return this.#beats.acknowledged(sentAt);
    void this.close();
    throw new QueueLockError(
      'SESSION_LOST',
      isThere
        ? `the session had ${this.ttlMs} ms, and at the reconnect the server granted ${this.#zk.timeoutMs} ms`
        : `the private node ${this.#privatePath} of the session was removed`,
    );
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const key = this.#keyOf(spec.queue, spec.id);
    const place = { root: this.#root, directory: queuePath(this.#root, spec.queue) };
    const entry = this.#entries.get(key) ?? new OwnEntry(this.#zk, place, spec.id);
    this.#entries.set(key, entry);
    try {
      const seat = await entry.enqueue(spec);
      return placementOf(this.#zk, this.#watches, { seat, limit: spec.limit });
    } catch (error) {
      if (isQueueLockError(error, 'ENTRY_LOST')) this.#entries.delete(key);
      throw error;
    }
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const placement = await this.enqueue(spec);
    if (placement.turn.admitted) return placement;
    await this.remove(spec.queue, spec.id);
    return undefined;
  }

  async update(queue: string, id: string, value: string): Promise<boolean> {
    return (await this.#entries.get(this.#keyOf(queue, id))?.write(value)) ?? false;
  }

  async remove(queue: string, id: string): Promise<boolean> {
    const key = this.#keyOf(queue, id);
    try {
      const removed = (await this.#entries.get(key)?.remove()) ?? false;
      this.#entries.delete(key);
      return removed;
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#zk.close();
  }

  #keyOf(queue: string, id: string): string {
    return `${queuePath(this.#root, queue)}/${id}`;
  }
}
