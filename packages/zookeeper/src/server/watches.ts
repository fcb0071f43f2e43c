import { isQueueLockError } from '@queuelock/core/backend';
import type { NodeChange, NodeStat, ZkDriver } from '../driver/driver.ts';
import { RepeatedReads } from '../base/repeated-reads.ts';
import { Observable, Subscription, defer, filter, share } from '../base/rx.ts';

// A node is read again after this time in milliseconds, in case a notification was lost. Jitter spreads the
// reads of many waiters.
const SAFETY_INTERVAL_MS = { min: 10_000, spread: 20_000 };

/** How the removal of a node was noticed. */
export interface Removal {
  /** Whether a watch has reported the removal. If not, a later read has found it, and events may have been missed. */
  readonly observed: boolean;
  /** Whether the removed node belonged to the session that watched it, as far as that session knows. */
  readonly own: boolean;
  /**
   * Whether a watch has reported the removal, and the node was never written after its creation. A write may
   * precede a conversion of the entry to a reader.
   */
  readonly unwritten: boolean;
}

/** A read of a node's metadata that also sets a watch. */
type WatchingRead = () => Promise<NodeStat | undefined>;

/** Watches that report when nodes are removed. All waiters for one node share a watch. */
export class Watches {
  readonly #zk: ZkDriver;
  readonly #removals = new Map<string, Observable<Removal>>();
  /**
   * The metadata of nodes that have a watch which no waiter has used yet. A waiter that needs the watch then
   * sends no request.
   */
  readonly #readNodes = new Map<string, ReadNode>();

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /**
   * Reads a node and sets a watch, so that a later waiter for this node need not read it. When the watch is triggered, the result is
   * dropped.
   * @param read reads the node and sets the watch; by default only if the node exists
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

  /** Emits once when the node is removed, or at once if it was removed before. Errors with `SESSION_LOST`. */
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

/** Reads a node, and sets a watch if it exists. Reads only the metadata if the client may not read the content. */
async function watched(zk: ZkDriver, path: string): Promise<NodeStat | undefined> {
  const option = { watch: true };
  try {
    return await zk.read(path, option);
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    return zk.stat(path, option);
  }
}

/** Emits when a new connection is up. Watches must then be set again, and events may have been missed. */
function reconnects(zk: ZkDriver): Observable<unknown> {
  return zk.connection$.pipe(filter(({ status }) => status === 'back'));
}

/** Returns the delay before a watched node is read again, which is a random time between 10 s and 30 s. */
export function safetyIntervalMs(): number {
  return SAFETY_INTERVAL_MS.min + Math.random() * SAFETY_INTERVAL_MS.spread;
}
