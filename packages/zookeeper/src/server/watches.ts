import { isQueueLockError } from '@queuelock/core/backend';
import type { NodeChange, NodeStat, ZkDriver } from '../driver/driver.ts';
import { RepeatedReads } from '../base/repeated-reads.ts';
import { Observable, Subscription, defer, filter, share } from '../base/rx.ts';

// Nodes are read again after this time, in milliseconds, since a lost event would leave a waiter waiting for ever. It has jitter, so that waiters
// spread out.
const SAFETY_INTERVAL_MS = { min: 10_000, spread: 20_000 };

/** How the removal of a node was noticed. */
export interface Removal {
  /** Whether a watch reported the removal, and not only a later read. */
  readonly observed: boolean;
  /** Whether the node belonged to the watching session, as far as that session has read it. */
  readonly own: boolean;
  /** Whether a watch reported the removal and the node had not been written since its creation. */
  readonly unwritten: boolean;
}

/** A read that sets a watch on the node. */
type WatchingRead = () => Promise<NodeStat | undefined>;

/** Watches for the removal of nodes, with one watch for all waiters of a node. */
export class Watches {
  readonly #zk: ZkDriver;
  readonly #removals = new Map<string, Observable<Removal>>();
  /** The metadata of nodes that have a watch although no claim waits for them yet. */
  readonly #readNodes = new Map<string, ReadNode>();

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /**
   * Reads a node and sets a watch, so that the next claim that waits for the node need not read it. The result is forgotten with the watch.
   *
   * @param read sets a watch; default: only on a node that exists
   */
  async readAndWatch(
    path: string,
    read: WatchingRead = () => watched(this.#zk, path),
  ): Promise<NodeStat | undefined> {
    const watch = new Subscription(() => this.#readNodes.delete(path));
    const end = (): void => {
      watch.unsubscribe();
    };
    const ends: readonly Observable<unknown>[] = [
      this.#zk.changes(path),
      this.#zk.connection$,
      this.#zk.ended$,
    ];
    for (const one$ of ends) watch.add(one$.subscribe({ next: end, error: end, complete: end }));
    try {
      const stat = await read();
      if (!stat) end();
      else if (!watch.closed) this.#readNodes.set(path, { stat, watch });
      return stat;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Emits once when the node is removed, also if it was removed before; errors with `SESSION_LOST`. */
  removalOf(path: string): Observable<Removal> {
    return defer(() => {
      const shared$ = this.#removals.get(path) ?? this.#share(path);
      this.#removals.set(path, shared$);
      return shared$;
    });
  }

  #share(path: string): Observable<Removal> {
    const zk = this.#zk;
    const removal$ = new Observable<Removal>((subscriber) => {
      let [unwritten, own] = [false, false];
      const found = (removal: Removal): void => {
        subscriber.next(removal);
        subscriber.complete();
      };
      const error = (cause: unknown): void => {
        subscriber.error(cause);
      };
      const reads = new RepeatedReads({
        read: async () => {
          const stat = this.#takeReadNode(path) ?? (await watched(zk, path));
          unwritten = stat?.version === 0;
          own ||= stat?.ephemeralOwner === zk.sessionId;
          return stat !== undefined;
        },
        repeatAfterMs: safetyIntervalMs,
        onValue: (isThere) => {
          if (!isThere) found({ observed: false, own, unwritten: false });
        },
        onError: error,
      });
      subscriber.add(() => {
        reads.stop();
        this.#removals.delete(path);
      });
      const next = (change: NodeChange): void => {
        unwritten &&= change === 'deleted';
        if (change === 'deleted') found({ observed: true, own, unwritten });
        else reads.readNow();
      };
      subscriber.add(zk.changes(path).subscribe({ next, error }));
      subscriber.add(reconnects(zk).subscribe({ next: () => reads.readNow(), error }));
      subscriber.add(zk.ended$.subscribe({ error }));
      if (!subscriber.closed) reads.readNow();
    });
    return removal$.pipe(share());
  }

  #takeReadNode(path: string): NodeStat | undefined {
    const readNode = this.#readNodes.get(path);
    readNode?.watch.unsubscribe();
    return readNode?.stat;
  }
}

interface ReadNode {
  readonly stat: NodeStat;
  readonly watch: Subscription;
}

/** Reads the node, with a watch if it exists. If the client may not read the node, only its metadata is read. */
async function watched(zk: ZkDriver, path: string): Promise<NodeStat | undefined> {
  const option = { watch: true };
  try {
    return await zk.read(path, option);
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    return zk.stat(path, option);
  }
}

/** Emits when a new connection is up. The new connection has no watches, and events since the end of the previous one were missed. */
function reconnects(zk: ZkDriver): Observable<unknown> {
  return zk.connection$.pipe(filter(({ status }) => status === 'back'));
}

/** Returns a time between 10 s and 30 s. */
export function safetyIntervalMs(): number {
  return SAFETY_INTERVAL_MS.min + Math.random() * SAFETY_INTERVAL_MS.spread;
}
