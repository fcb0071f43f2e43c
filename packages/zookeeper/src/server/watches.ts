import { isQueueLockError } from '@queuelock/core/backend';
import type { ConnectionEvent, NodeStat, ZkDriver } from '../driver/driver.ts';
import { NodeWatch, type NodeWatchHost, type Removal, type RemovalObserver } from './node-watch.ts';
import { Observable, Subscription } from '../base/rx.ts';

/** A read of a node's metadata that also sets a watch. */
type WatchingRead = () => Promise<NodeStat | undefined>;

/** Watches that report when nodes are removed. All waiters for one node share a watch, and all watches share the events of the session. */
export class Watches implements NodeWatchHost {
  readonly zk: ZkDriver;
  readonly #nodes = new Map<string, NodeWatch>();
  /** The subscription to the events of the session. It exists while any node is watched. */
  #session: Subscription | undefined;
  /** The metadata of nodes that have a watch, although no waiter needs it yet. */
  readonly #readNodes = new Map<string, ReadNode>();

  constructor(zk: ZkDriver) {
    this.zk = zk;
  }

  /**
   * Reads a node and sets a watch, and keeps the node's metadata, so that a later waiter for this node need not read it. The metadata is dropped when
   * the watch is triggered.
   * @param read reads the node and sets the watch; by default only if the node exists
   */
  async readAndWatch(
    path: string,
    read: WatchingRead = () => watched(this.zk, path),
  ): Promise<NodeStat | undefined> {
    const watch = new Subscription(() => this.#readNodes.delete(path));
    const end = (): void => {
      watch.unsubscribe();
    };
    const ends: readonly Observable<unknown>[] = [this.zk.changes(path), this.zk.connection$, this.zk.ended$];
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
    return new Observable((subscriber) => {
      const observer: RemovalObserver = {
        next: (removal) => {
          subscriber.next(removal);
          subscriber.complete();
        },
        error: (cause) => {
          subscriber.error(cause);
        },
      };
      this.add(path, observer);
      return () => {
        this.delete(path, observer);
      };
    });
  }

  /**
   * Notifies the observer once when the node is removed, unless `delete` is called before. With thousands of waiters, this takes less memory than
   * `removalOf`.
   */
  add(path: string, observer: RemovalObserver): void {
    const known = this.#nodes.get(path);
    if (known) {
      known.add(observer);
      return;
    }
    const node = new NodeWatch(this, path, observer);
    this.#nodes.set(path, node);
    this.#followSession();
    node.begin();
  }

  delete(path: string, observer: RemovalObserver): void {
    this.#nodes.get(path)?.delete(observer);
  }

  // --- Members of this class that `NodeWatch` calls.

  async readAgain(path: string): Promise<NodeStat | undefined> {
    return this.#takeReadNode(path) ?? (await watched(this.zk, path));
  }

  ended(path: string): void {
    this.#nodes.delete(path);
    if (this.#nodes.size > 0) return;
    this.#session?.unsubscribe();
    this.#session = undefined;
  }

  /** After a reconnect, watches must be set again, and events may have been missed. So every watched node is read again. */
  #followSession(): void {
    if (this.#session) return;
    const session = (this.#session = new Subscription());
    const next = ({ status }: ConnectionEvent): void => {
      if (status === 'back') for (const node of [...this.#nodes.values()]) node.readNow();
    };
    const error = (cause: unknown): void => {
      for (const node of [...this.#nodes.values()]) node.error(cause);
    };
    session.add(this.zk.connection$.subscribe({ next, error }));
    session.add(this.zk.ended$.subscribe({ error }));
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
