import { isQueueLockError } from '@queuelock/core/backend';
import type { NodeChange, NodeStat, ZkDriver } from '../driver/driver.ts';
import { Looks } from '../base/looks.ts';
import { Observable, Subscription, defer, filter, share } from '../base/rx.ts';

// An event that never came would leave a waiter asleep for ever. Jittered, so that waiters do not look in step.
const SAFETY_MS = { least: 10_000, spread: 20_000 };

/** How a node was found to be gone. */
export interface Going {
  /** A watch told it, and not only a look that came later. */
  readonly seen: boolean;
  /** Whether the node was of the session that watches, as far as it has read it. */
  readonly own: boolean;
  /** Seen, and until then nobody had written to it since it was made. */
  readonly unwritten: boolean;
}

/** A look that leaves a watch on the node. */
type Look = () => Promise<NodeStat | undefined>;

/** Who waits for which node to go: one watch for all that wait for the same. */
export class Watches {
  readonly #zk: ZkDriver;
  readonly #gone = new Map<string, Observable<Going>>();
  /** What was seen of nodes whose watches stand since, and whom nobody follows yet. */
  readonly #sighted = new Map<string, Sighted>();

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /**
   * Looks at a node and watches it from then on, so that whoever follows it next need not look. Forgets it with the watch.
   *
   * @param look leaves a watch; default: only on a node that is there
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

  /** Emits once when the node is gone, also if it was gone before; errors with `SESSION_LOST`. */
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

/** The node, with a watch on it if it is there. One that may not be read can still be looked at. */
async function watched(zk: ZkDriver, path: string): Promise<NodeStat | undefined> {
  const option = { watch: true };
  try {
    return await zk.read(path, option);
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    return zk.stat(path, option);
  }
}

/** A new connection: it has no watches, and what happened while there was none went by unseen. */
function reconnects(zk: ZkDriver): Observable<unknown> {
  return zk.connection$.pipe(filter(({ status }) => status === 'back'));
}

/** Ten to thirty seconds. */
export function safetyPause(): number {
  return SAFETY_MS.least + Math.random() * SAFETY_MS.spread;
}
