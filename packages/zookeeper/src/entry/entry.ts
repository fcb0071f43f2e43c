// Chapter entry: how does a wish become an entry in the queue, and how does it leave?
// Here: one entry, from its first attempt until it is surely out. enqueue: create and list. alone: a position in one queue. traces of holds.

import { isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { nodeOf, seatedAgain, type EntryState, type Seated, type Turning } from './entry-state.ts';
import { parseContender, readerOf } from '../queue/entries.ts';
import { findNode, findPosition, joinQueue, type NodePosition } from './enqueue.ts';
import { entryLost, entryUnwanted } from '../driver/errors.ts';
import { Lane, inLine } from '../base/lane.ts';
import { LateAbort } from '../base/late-abort.ts';
import { nameOf } from '../queue/names.ts';
import { textOf } from '../queue/node-text.ts';
import type { SessionContext } from '../server/session-context.ts';
import type { Place } from '../queue/parents.ts';
import type { QueuePlace } from '../queue/queue-place.ts';
import { makeReader } from './reader.ts';
import { Subject, type Observable } from '../base/rx.ts';
import { checkShape } from '../queue/shape.ts';
import { OwnTrace, type Identity } from './traces.ts';

/**
 * One entry of a session, from the first attempt to enqueue it until it is known to be out. Its calls run one after the
 * other, so a removal decides after an enqueue that was on its way.
 */
export class OwnEntry {
  readonly lane: Lane = new Lane();
  readonly isResumed: boolean;
  readonly place: QueuePlace;
  readonly #context: SessionContext;
  readonly #zk: ZkDriver;
  readonly #id: string;
  readonly #withdrawal: LateAbort;
  readonly #shared$ = new Subject<void>();
  /** Of its hold. */
  readonly #trace: OwnTrace;
  #state: EntryState;

  constructor(context: SessionContext, place: QueuePlace, identity: Identity) {
    const { id, isResumed } = identity;
    this.#context = context;
    this.#zk = context.zk;
    this.place = place;
    this.#id = id;
    this.#trace = new OwnTrace(context.zk, place, identity);
    this.#withdrawal = new LateAbort(() => entryUnwanted(id));
    this.isResumed = isResumed;
    this.#state = isResumed ? { status: 'unknown', isInherited: true } : { status: 'absent' };
  }

  /** Its node, once that is known; another one when it has turned into a reader. */
  get path(): string | undefined {
    return 'path' in this.#state ? this.#state.path : undefined;
  }

  /** Whether it may be in the queue. */
  get mayBeIn(): boolean {
    return this.#state.status !== 'absent' && this.#state.status !== 'gone';
  }

  /** Emits when it turns into a reader; errors with `ENTRY_LOST` when a call finds that it is gone, before the watch tells. */
  get shared$(): Observable<void> {
    return this.#shared$;
  }

  /** Aborts when it is to be removed: what has not begun to put it in need not begin. */
  get unwanted(): AbortSignal {
    return this.#withdrawal.signal;
  }

  /** With this node it was admitted, and nobody was ahead with whom it conflicts. Whoever waits for it is told so before it leaves. */
  noteOwned(path: string): void {
    const node = nodeOf(this.#state);
    if (node?.path === path) this.#state = { ...node, isOwner: true };
  }

  /** Whether it was entered with others, and all of them stand at one point in the order of all who do so. */
  get isOrdered(): boolean {
    return nodeOf(this.#state)?.isOrdered ?? false;
  }

  noteOrdered(): void {
    const node = nodeOf(this.#state);
    if (node) this.#state = { ...node, isOrdered: true };
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT` when the position, taken earlier, is another than what is wanted now */
  checkShape({ own }: NodePosition, spec: EntrySpec): void {
    const node = nodeOf(this.#state);
    checkShape(own, spec, { limit: node?.isInherited ?? false });
    if (node) this.#state = { ...node, isInherited: false };
  }

  /** Whether there was an entry to remove; after that there is none. Rejects when that is not known. */
  remove(): Promise<boolean> {
    this.#withdrawal.abort();
    return inLine([this.lane], () => this.withdraw());
  }

  /** Whether there was an entry to write to. */
  write(value: string): Promise<boolean> {
    return this.#withNode(async ({ path }) => {
      const text = textOf({ id: this.#id, value }, this.place.scheme);
      return (await this.#zk.write(path, text)) !== undefined;
    });
  }

  /**
   * Turns it into a reader at the same place, as Curator's read/write lock downgrades: the reader's node is made, by hand with
   * the writer's number, and then the writer's is deleted. In between the writer is written to: that shows that it was still there after
   * the reader was made, without which it would bring back an entry that others have seen go; and a writer that goes unwritten
   * has left, as those who wait for it know. Whether there was an entry.
   */
  share(value: string): Promise<boolean> {
    return this.#withNode(async (node) => {
      const isReader = parseContender(nameOf(node.path), this.place.scheme)?.shared;
      const isThere = isReader
        ? (await this.#zk.write(node.path, value)) !== undefined
        : await this.#makeReader(node, value);
      if (isThere && this.#state.status === 'turning') {
        const { twin, ...turned } = this.#state;
        await this.#zk.delete(twin);
        this.#state = { ...turned, status: 'seated' };
      }
      return isThere;
    });
  }

  /** Leaves the trace of its hold, a node of the same name in that directory; answers the name, nothing when it has no node. */
  async leaveTrace(place: Place): Promise<string | undefined> {
    let name: string | undefined;
    await this.#withNode(async ({ path }) => {
      const isThere = (await this.#zk.stat(path)) !== undefined;
      if (isThere) name = await this.#trace.leave(place, nameOf(path));
      return isThere;
    });
    return name;
  }

  /** Only in line. The position that it has; rejects with `ENTRY_LOST` when it had one. */
  async position(): Promise<NodePosition | undefined> {
    const state = this.#state;
    if (state.status === 'absent') return undefined;
    if (state.status === 'gone') throw entryLost(state.path);
    const known = nodeOf(state)?.path;
    const position = await findPosition(this.#zk, this.place, { id: this.#id, known });
    if (!position && known !== undefined) throw this.#lost(known);
    this.#state = position ? seatedAgain(this.#state, position) : { status: 'absent' };
    return position;
  }

  /** Only in line, and when it has none. */
  async take(spec: EntrySpec): Promise<NodePosition> {
    this.attempted();
    const created = (path: string): void => void (this.#state = { status: 'seated', path });
    const position = await joinQueue(this.#context, { place: this.place, spec, created });
    this.#state = seatedAgain(this.#state, position);
    return position;
  }

  /** Only in line, and when it has none. A request that puts it in is about to be sent. */
  attempted(): void {
    this.#state = { status: 'unknown' };
  }

  /** Only in line. It has made this node, or none. */
  made(node?: { readonly path: string; readonly czxid: bigint }): void {
    this.#state = node ? { status: 'seated', path: node.path, token: node.czxid } : { status: 'absent' };
  }

  /**
   * Only in line. Takes out what is left of an attempt that failed for good, of which nobody will be told. A server that refuses
   * that leaves one way to free the queue: to end the session.
   */
  async clear(): Promise<void> {
    try {
      await this.withdraw();
    } catch (error) {
      const isOver = isQueueLockError(error, 'SESSION_LOST') || isQueueLockError(error, 'CLOSED');
      if (!isDefinite(error) || isOver) throw error;
      this.#context.giveUp();
    }
    this.#state = { status: 'absent' };
  }

  /** Only in line. Whether there was an entry to remove. */
  async withdraw(): Promise<boolean> {
    const node = await this.#find();
    if (!node) return false;
    const { path, isOwner = false } = node;
    await this.#trace.erase(path);
    this.#context.followed.markLeaving(path, { owned: isOwner });
    const nodes = node.status === 'turning' ? [node.twin, path] : [path];
    const removed = await Promise.all(nodes.map((one) => this.#context.removals.delete(one)));
    this.#state = { status: 'gone', path };
    return removed.includes(true);
  }

  /** Only in line. Takes out what an attempt has left that nobody was told of; it may be put in again. */
  async retract(): Promise<void> {
    const node = await this.#find();
    if (!node) return;
    // If the answer to the delete is lost, the node is looked for.
    this.#state = { status: 'unknown' };
    await this.#zk.delete(node.path);
    this.#state = { status: 'absent' };
  }

  /** From here on the reader is the entry, unless the writer was gone. */
  async #makeReader(node: Seated | Turning, value: string): Promise<boolean> {
    const { path: writer, token = (await this.#zk.stat(writer))?.czxid } = node;
    if (token === undefined) return false;
    const reader = `${this.place.directory}/${readerOf(nameOf(writer), token, this.place.scheme)}`;
    this.#state = { ...node, status: 'turning', token, twin: reader };
    const isThere = await makeReader(this.#zk, { writer, reader }, value);
    if (!isThere) return false;
    this.#state = { status: 'turning', path: reader, token, twin: writer };
    this.#shared$.next();
    return true;
  }

  /** In line, works on its node, if it has one, and answers whether it was there. Whoever follows the entry hears that it was not. */
  #withNode(work: (node: Seated | Turning) => Promise<boolean>): Promise<boolean> {
    return inLine([this.lane], async () => {
      const node = await this.#find();
      if (!node) return false;
      const isThere = await work(node);
      if (!isThere) this.#lost(node.path);
      return isThere;
    });
  }

  /** It is not there any more. Whoever follows it hears so at once, also while there is no watch on the node. */
  #lost(path: string): Error {
    const error = entryLost(path);
    this.#state = { status: 'gone', path };
    this.#shared$.error(error);
    return error;
  }

  async #find(): Promise<Seated | Turning | undefined> {
    if (this.#state.status === 'unknown') {
      const node = await findNode(this.#zk, this.place, { id: this.#id, known: undefined });
      this.#state = node ? seatedAgain(this.#state, node) : { status: 'absent' };
    }
    return nodeOf(this.#state);
  }
}
