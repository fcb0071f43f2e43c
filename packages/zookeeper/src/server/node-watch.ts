import type { NodeChange, NodeStat, ZkDriver } from '../driver/driver.ts';
import { RepeatedReads, type ReadListener, type RepeatedReadOptions } from '../base/repeated-reads.ts';
import type { Unsubscribable } from '../base/rx.ts';

// Delay in milliseconds after which a watched node is read again, in case a notification was lost: `min` plus a random part of `spread`, so that the
// reads of many waiters spread out.
const SAFETY_INTERVAL_MS = { min: 10_000, spread: 20_000 };

/** Returns the delay before a watched node is read again, which is a random time between 10 s and 30 s. */
export function safetyIntervalMs(): number {
  return SAFETY_INTERVAL_MS.min + Math.random() * SAFETY_INTERVAL_MS.spread;
}

/** How the removal of a node was noticed. */
export interface Removal {
  /** Whether a watch has reported the removal. If not, a later read has found it, and events may have been missed. */
  readonly observed: boolean;
  /** Whether the removed node belonged to the session that watched it. `false` also when no read has shown the node's session. */
  readonly own: boolean;
  /** Whether a watch has reported the removal, and the node was never written after its creation. */
  readonly unwritten: boolean;
}

/** An observer of the removal of a node. The watch calls exactly one of its methods, once. */
export interface RemovalObserver {
  next(removal: Removal): void;
  error(cause: unknown): void;
}

/** The members of `Watches` that the watch of one node uses. */
export interface NodeWatchHost {
  readonly zk: ZkDriver;
  /** Reads the node, and sets a watch if it exists. */
  readAgain(path: string): Promise<NodeStat | undefined>;
  /** Called once, when the watch of the node has ended. */
  ended(path: string): void;
}

/** Watches one node until its removal, for all observers of that node. It has no closures, which would take memory for each of thousands of nodes. */
export class NodeWatch implements RepeatedReadOptions<boolean>, ReadListener<boolean> {
  readonly #host: NodeWatchHost;
  readonly #path: string;
  readonly #observers: Set<RemovalObserver>;
  readonly #reads: RepeatedReads<boolean>;
  #changes: Unsubscribable | undefined;
  #unwritten = false;
  #own = false;
  #isOver = false;

  constructor(host: NodeWatchHost, path: string, first: RemovalObserver) {
    this.#host = host;
    this.#path = path;
    this.#observers = new Set([first]);
    this.#reads = new RepeatedReads(this);
  }

  begin(): void {
    if (this.#isOver) return;
    this.#changes = this.#host.zk.changes(this.#path).subscribe(this);
    this.#reads.readNow();
  }

  add(observer: RemovalObserver): void {
    this.#observers.add(observer);
  }

  /** Removes an observer. The watch ends when no observer is left. */
  delete(observer: RemovalObserver): void {
    this.#observers.delete(observer);
    if (this.#observers.size === 0) this.#end();
  }

  /** Reads the node now, since events may have been missed. */
  readNow(): void {
    this.#reads.readNow();
  }

  /** Called with each change of the node that the server reports. */
  next(change: NodeChange): void {
    this.#unwritten &&= change === 'deleted';
    if (change === 'deleted') this.#found({ observed: true, own: this.#own, unwritten: this.#unwritten });
    else this.#reads.readNow();
  }

  error(cause: unknown): void {
    for (const observer of this.#end()) observer.error(cause);
  }

  // --- Members of this class that `RepeatedReads` calls.

  async read(): Promise<boolean> {
    const stat = await this.#host.readAgain(this.#path);
    this.#unwritten = stat?.version === 0;
    this.#own ||= stat?.ephemeralOwner === this.#host.zk.sessionId;
    return stat !== undefined;
  }

  repeatAfterMs(): number {
    return safetyIntervalMs();
  }

  onValue(isThere: boolean): void {
    if (!isThere) this.#found({ observed: false, own: this.#own, unwritten: false });
  }

  onError(cause: unknown): void {
    this.error(cause);
  }

  #found(removal: Removal): void {
    for (const observer of this.#end()) observer.next(removal);
  }

  /** Ends the watch, and removes and returns its observers. */
  #end(): readonly RemovalObserver[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    this.#reads.stop();
    this.#changes?.unsubscribe();
    this.#host.ended(this.#path);
    const observers = [...this.#observers];
    this.#observers.clear();
    return observers;
  }
}
