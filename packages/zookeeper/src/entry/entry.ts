// Folder "entry": creates entries in queues, changes them, and removes them.
// entry.ts (this file) contains one entry until its removal. enqueue.ts creates nodes and lists queues. traces.ts records holds.

import { isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { asPresent, nodeOf, type EntryState, type QueuedEntry, type SharedListener } from './entry-state.ts';
import { parseContender, readerOf } from '../queue/entries.ts';
import { Ending } from '../base/ending.ts';
import { findPosition, joinQueue, type NodePosition } from './enqueue.ts';
import { findNode } from './find-node.ts';
import { entryLost, entryWithdrawn } from '../driver/errors.ts';
import { Lane, runInLanes } from '../base/lane.ts';
import { LazyAbortController } from '../base/lazy-abort-controller.ts';
import { nameOf } from '../queue/names.ts';
import { textOf } from '../queue/node-text.ts';
import type { SessionContext } from '../server/session-context.ts';
import type { DirectoryLocation } from '../queue/parents.ts';
import type { QueueLocation } from '../queue/queue-location.ts';
import { makeReader } from './reader.ts';
import { OwnTrace, type Identity } from './own-trace.ts';

const NONE: readonly SharedListener[] = [];

/**
 * One entry of a session, from the first attempt to enqueue it until its removal is confirmed. Its calls run one after another, so a
 * removal takes effect after an enqueue in flight.
 */
export class OwnEntry {
  readonly lane: Lane = new Lane();
  readonly isResumed: boolean;
  readonly location: QueueLocation;
  readonly lost: Ending = new Ending(); // The loss of the entry: `ENTRY_LOST`, once a call has found no node of it.
  readonly #context: SessionContext;
  readonly #zk: ZkDriver;
  readonly #id: string;
  readonly #withdrawal: LazyAbortController;
  readonly #trace: OwnTrace;
  #state: EntryState;
  #sharedListeners: readonly SharedListener[] = NONE;

  constructor(context: SessionContext, location: QueueLocation, identity: Identity) {
    const { id, isResumed } = identity;
    this.#context = context;
    this.#zk = context.zk;
    this.location = location;
    this.#id = id;
    this.#trace = new OwnTrace(context.zk, location, identity);
    this.#withdrawal = new LazyAbortController(() => entryWithdrawn(id));
    this.isResumed = isResumed;
    this.#state = { status: isResumed ? 'unknown' : 'absent' };
  }

  /** The path of the node, once it is known. It changes when the entry is converted to a reader. */
  get path(): string | undefined {
    return 'path' in this.#state ? this.#state.path : undefined;
  }

  /** Whether the entry may be in the queue. */
  get mayBeQueued(): boolean {
    return this.#state.status !== 'absent' && this.#state.status !== 'removed';
  }

  addSharedListener(listener: SharedListener): void {
    this.#sharedListeners = [...this.#sharedListeners, listener];
  }

  deleteSharedListener(listener: SharedListener): void {
    this.#sharedListeners = this.#sharedListeners.filter((other) => other !== listener);
  }

  /** Aborts when the removal of the entry is requested. An enqueue that has not started then need not start. */
  get withdrawn(): AbortSignal {
    return this.#withdrawal.signal;
  }

  /**
   * Records that the entry was admitted as the only holder, if its node still has the path `path`. Its removal then leaves no holder, so the next
   * waiter in this process is admitted without a read of the queue.
   */
  markOwned(path: string): void {
    const node = nodeOf(this.#state);
    if (node?.path === path) this.#state = { ...node, isOwner: true };
  }

  /**
   * Whether one call has enqueued the entry together with entries of other queues, in the same order as other such calls. So the wait for the entry
   * cannot cause a deadlock; see `enqueue-all.ts`.
   */
  get isOrdered(): boolean {
    return nodeOf(this.#state)?.isOrdered ?? false;
  }

  markOrdered(): void {
    const node = nodeOf(this.#state);
    if (node) this.#state = { ...node, isOrdered: true };
  }

  /** Removes the entry. Resolves with whether the entry existed. Rejects when that is unknown. */
  remove(): Promise<boolean> {
    this.#withdrawal.abort();
    return runInLanes([this.lane], () => this.withdraw());
  }

  /** Replaces the value of the entry. Resolves with whether the entry existed. */
  write(value: string): Promise<boolean> {
    return this.#withNode(async ({ path }) => {
      const text = textOf({ id: this.#id, value }, this.location.scheme);
      return (await this.#zk.write(path, text)) !== undefined;
    });
  }

  /**
   * Converts the entry to a reader at the same position, as Curator's read/write lock downgrades: it creates the reader's node with the
   * writer's number, writes to the writer's node, and deletes the writer's node. The write proves that the writer still existed, so that no
   * removed entry comes back. If a writer's node disappears without such a write, waiters treat the entry as removed, not as converted.
   * Resolves with whether the entry existed.
   */
  share(value: string): Promise<boolean> {
    return this.#withNode(async (node) => {
      const isReader = parseContender(nameOf(node.path), this.location.scheme)?.shared;
      const write = async (): Promise<boolean> => (await this.#zk.write(node.path, value)) !== undefined;
      const exists = await (isReader ? write() : this.#makeReader(node, value));
      if (exists && this.#state.status === 'converting') {
        const { otherPath, ...converted } = this.#state;
        await this.#zk.delete(otherPath);
        this.#state = { ...converted, status: 'present' };
      }
      return exists;
    });
  }

  /** Records the hold as a trace: a node with the same name. Resolves with the name, or `undefined` if the entry has no node. */
  async recordTrace(location: DirectoryLocation): Promise<string | undefined> {
    let name: string | undefined;
    await this.#withNode(async ({ path }) => {
      const exists = (await this.#zk.stat(path)) !== undefined;
      if (exists) name = await this.#trace.leave(location, nameOf(path));
      return exists;
    });
    return name;
  }

  /** Returns the current position. Rejects with `ENTRY_LOST` when the entry was removed. Call it only from the task queue `lane`. */
  async position(): Promise<NodePosition | undefined> {
    const state = this.#state;
    if (state.status === 'absent') return undefined;
    if (state.status === 'removed') throw entryLost(state.path);
    const known = nodeOf(state)?.path;
    const position = await findPosition(this.#zk, this.location, { id: this.#id, known });
    if (!position && known !== undefined) throw this.#markLost(known);
    this.#state = position ? asPresent(this.#state, position) : { status: 'absent' };
    return position;
  }

  /** Enqueues the entry. Call it only from the task queue `lane`, while the entry has no node. */
  async enqueue(spec: EntrySpec): Promise<NodePosition> {
    this.markAttempted();
    const created = (path: string): void => void (this.#state = { status: 'present', path });
    const position = await joinQueue(this.#context, { location: this.location, spec, created });
    this.#state = asPresent(this.#state, position);
    return position;
  }

  /** Records that a create is about to be sent. Call it only from the task queue `lane`, while the entry has no node. */
  markAttempted(): void {
    this.#state = { status: 'unknown' };
  }

  /** Records the outcome of a create: the new node, or that there is none. Call it only from the task queue `lane`. */
  markCreated(node?: { readonly path: string; readonly czxid: bigint }): void {
    this.#state = node ? { status: 'present', path: node.path, token: node.czxid } : { status: 'absent' };
  }

  /**
   * Removes what a failed enqueue has left, since its caller gets no entry. If the server refuses the removal, the session is ended,
   * because nothing else frees the queue. Call it only from the task queue `lane`.
   */
  async clear(): Promise<void> {
    try {
      await this.withdraw();
    } catch (error) {
      const isSessionEnded = isQueueLockError(error, 'SESSION_LOST') || isQueueLockError(error, 'CLOSED');
      if (!isDefinite(error) || isSessionEnded) throw error;
      this.#context.giveUp();
    }
    this.#state = { status: 'absent' };
  }

  /** Removes the entry. Resolves with whether the entry existed. Call it only from the task queue `lane`. */
  async withdraw(): Promise<boolean> {
    const node = await this.#find();
    if (!node) return false;
    const { path, isOwner: owned = false } = node;
    await this.#trace.erase(path);
    this.#context.followed.markLeaving(path, { owned });
    const nodes = node.status === 'converting' ? [node.otherPath, path] : [path];
    const removed = await Promise.all(nodes.map((one) => this.#context.removals.delete(one)));
    this.#state = { status: 'removed', path };
    return removed.includes(true);
  }

  /** Removes the node of an enqueue with an unknown outcome, if there is one. Call it only from the task queue `lane`. */
  async retract(): Promise<void> {
    const node = await this.#find();
    if (!node) return;
    this.#state = { status: 'unknown' }; // If the reply to the delete is lost, the next call searches for the node.
    await this.#zk.delete(node.path);
    this.#state = { status: 'absent' };
  }

  /** Creates the reader's node, which then is the entry's node. Does nothing if the writer's node was already removed. */
  async #makeReader(node: QueuedEntry, value: string): Promise<boolean> {
    const { path: writer, token = (await this.#zk.stat(writer))?.czxid } = node;
    if (token === undefined) return false;
    const reader = `${this.location.directory}/${readerOf(nameOf(writer), token, this.location.scheme)}`;
    this.#state = { ...node, status: 'converting', token, otherPath: reader };
    const exists = await makeReader(this.#zk, { writer, reader }, value);
    if (!exists) return false;
    this.#state = { status: 'converting', path: reader, token, otherPath: writer };
    for (const listener of this.#sharedListeners) listener.shared();
    return true;
  }

  /** Runs `work` on the entry's node, as a task of `lane`. Resolves with whether the node existed; if not, the entry is lost. */
  #withNode(work: (node: QueuedEntry) => Promise<boolean>): Promise<boolean> {
    return runInLanes([this.lane], async () => {
      const node = await this.#find();
      if (!node) return false;
      const exists = await work(node);
      if (!exists) this.#markLost(node.path);
      return exists;
    });
  }

  /** Records that the entry is lost. Notifies the listeners at once, since there may be no watch on the node yet. */
  #markLost(path: string): Error {
    const error = entryLost(path);
    this.#state = { status: 'removed', path };
    this.lost.end(error);
    return error;
  }

  async #find(): Promise<QueuedEntry | undefined> {
    if (this.#state.status === 'unknown') {
      const node = await findNode(this.#zk, this.location, { id: this.#id, known: undefined });
      this.#state = node ? asPresent(this.#state, node) : { status: 'absent' };
    }
    return nodeOf(this.#state);
  }
}
