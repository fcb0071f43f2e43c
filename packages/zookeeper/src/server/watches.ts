import { isQueueLockError } from '@queuelock/core/backend';
import type { NodeChange, NodeStat, ZkDriver } from '../driver/driver.ts';
import { Looks } from '../base/looks.ts';
import { Observable, Subscription, defer, filter, share } from '../base/rx.ts';

// A lost event would leave a waiter waiting for ever, so nodes are read again after this time. It has jitter, so that waiters spread out.
const SAFETY_MS = { least: 10_000, spread: 20_000 };

/** How the removal of a node was noticed. */
export interface Going {
  /** Whether a watch reported the removal, and not only a later read. */
  readonly seen: boolean;
  /** Whether the node belonged to the watching session, as far as that session has read it. */
  readonly own: boolean;
  /** Whether a watch reported the removal and the node had not been written since its creation. */
  readonly unwritten: boolean;
}

/** A read that sets a watch on the node. */
type Look = () => Promise<NodeStat | undefined>;

/** Watches for the removal of nodes, with one watch for all waiters of a node. */
export class Watches {
  readonly #zk: ZkDriver;
  readonly #gone = new Map<string, Observable<Going>>();
  /** What was read of nodes that have a watch but no follower yet. */
  readonly #sighted = new Map<string, Sighted>();

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /**
   * Reads a node and sets a watch, so that the next follower need not read it. The result is forgotten with the watch.
   *
   * @param look sets a watch; default: only on a node that exists
   */
  async sight(path: string, look: Look = () => watched(this.#zk, path)): Promise<NodeStat | undefined> {
    const watch = new Subscription(() => this.#sighted.delete(path));
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
      const stat = await look();
      if (!stat) end();
      else if (!watch.closed) this.#sighted.set(path, { stat, watch });
      return stat;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Emits once when the node is removed, also if it was removed before; errors with `SESSION_LOST`. */
  gone(path: string): Observable<Going> {
    return defer(() => {
      const shared$ = this.#gone.get(path) ?? this.#share(path);
      this.#gone.set(path, shared$);
      return shared$;
    });
  }

  #share(path: string): Observable<Going> {
    const zk = this.#zk;
    const going$ = new Observable<Going>((subscriber) => {
      let [unwritten, own] = [false, false];
      const found = (going: Going): void => {
        subscriber.next(going);
        subscriber.complete();
      };
      const error = (cause: unknown): void => {
        subscriber.error(cause);
      };
      const looks = new Looks({
        look: async () => {
          const stat = this.#takeSighted(path) ?? (await watched(zk, path));
          unwritten = stat?.version === 0;
          own ||= stat?.ephemeralOwner === zk.sessionId;
          return stat !== undefined;
        },
        again: safetyPause,
        seen: (isThere) => {
          if (!isThere) found({ seen: false, own, unwritten: false });
        },
        failed: error,
      });
      subscriber.add(() => {
        looks.end();
        this.#gone.delete(path);
      });
      const next = (change: NodeChange): void => {
        unwritten &&= change === 'deleted';
        if (change === 'deleted') found({ seen: true, own, unwritten });
        else looks.now();
      };
      subscriber.add(zk.changes(path).subscribe({ next, error }));
      subscriber.add(reconnects(zk).subscribe({ next: () => looks.now(), error }));
      subscriber.add(zk.ended$.subscribe({ error }));
      if (!subscriber.closed) looks.now();
    });
    return going$.pipe(share());
  }

  #takeSighted(path: string): NodeStat | undefined {
    const sighted = this.#sighted.get(path);
    sighted?.watch.unsubscribe();
    return sighted?.stat;
  }
}

interface Sighted {
  readonly stat: NodeStat;
  readonly watch: Subscription;
}

/** Reads the node, with a watch if it exists. A node that must not be read still has metadata. */
async function watched(zk: ZkDriver, path: string): Promise<NodeStat | undefined> {
  const option = { watch: true };
  try {
    return await zk.read(path, option);
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    return zk.stat(path, option);
  }
}

/** Emits for a new connection. It has no watches, and events in between were missed. */
function reconnects(zk: ZkDriver): Observable<unknown> {
  return zk.connection$.pipe(filter(({ status }) => status === 'back'));
}

/** Returns a time between 10 s and 30 s. */
export function safetyPause(): number {
  return SAFETY_MS.least + Math.random() * SAFETY_MS.spread;
}
