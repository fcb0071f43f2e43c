import { isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { parseContender, readerOf } from './entries.ts';
import { findNode, findSeat, takeSeat, type Seat } from './enqueue.ts';
import { entryLost, entryUnwanted } from './errors.ts';
import { Lane, inLine } from './lane.ts';
import { LateAbort } from './late-abort.ts';
import { nameOf } from './names.ts';
import { textOf } from './node-text.ts';
import type { Outlook } from './outlook.ts';
import type { Place } from './parents.ts';
import type { EntryPlace, QueuePlace } from './queue-place.ts';
import { makeReader } from './reader.ts';
import { Subject, type Observable } from './rx.ts';
import { checkShape } from './shape.ts';
import { OwnTrace } from './traces.ts';

/**
 * One entry of a session, from the first attempt to enqueue it until it is known to be out. Its calls run one after the
 * other, so a removal decides after an enqueue that was on its way.
 */
export class OwnEntry {
  readonly lane: Lane = new Lane();
  readonly isResumed: boolean;
  readonly place: QueuePlace;
  readonly #outlook: Outlook;
  readonly #zk: ZkDriver;
  readonly #id: string;
  readonly #withdrawal: LateAbort;
  readonly #shared$ = new Subject<void>();
  #path: string | undefined;
  /** Once that is known. */
  #token: bigint | undefined;
  /** The other node of an entry that turns, or turned, into a reader, while that one may be there. */
  #twin: string | undefined;
  /** Of its hold. */
  readonly #trace: OwnTrace;
  /** The node with which it is known to have been alone. */
  #ownedPath: string | undefined;
  /** It was entered with others, and all of them stand at one point in the order of all who do so. */
  isOrdered = false;
  /** A create was sent, and not known to have failed. */
  #mayBeIn: boolean;
  /** An earlier client has put it in, and this one has not asked for it yet. */
  #isUnasked: boolean;

  constructor(outlook: Outlook, { isResumed, ...place }: EntryPlace, id: string) {
    this.#outlook = outlook;
    this.#zk = outlook.zk;
    this.place = place;
    this.#id = id;
    this.#trace = new OwnTrace(outlook.zk, place, { id, isResumed });
    this.#withdrawal = new LateAbort(() => entryUnwanted(id));
    this.isResumed = isResumed;
    this.#mayBeIn = isResumed;
    this.#isUnasked = isResumed;
  }

  /** Its node, once that is known; another one when it has turned into a reader. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Whether it may be in the queue. */
  get mayBeIn(): boolean {
    return this.#mayBeIn;
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
    this.#ownedPath = path;
  }

  /**
   * Takes a seat, or answers with the one it has. When a definite error keeps it from taking one it has none; with one that is not as
   * `spec` wants it, it keeps that and rejects with `INVALID_ARGUMENT`.
   */
  enqueue(spec: EntrySpec): Promise<Seat> {
    return inLine([this.lane], async () => {
      let isTaking = false;
      let seat: Seat | undefined;
      try {
        seat = await this.seat();
        isTaking = !seat;
        seat ??= await this.take(spec);
      } catch (error) {
        const isLeft = isTaking ? isDefinite(error) : isQueueLockError(error, 'FOREIGN_FORMAT');
        if (isLeft && !isQueueLockError(error, 'SESSION_LOST')) await this.clear();
        throw error;
      }
      this.checkShape(seat, spec);
      return seat;
    });
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT` when the seat, taken earlier, is another than what is wanted now */
  checkShape({ own }: Seat, spec: EntrySpec): void {
    checkShape(own, spec, { limit: this.#isUnasked });
    this.#isUnasked = false;
  }

  /** Whether there was an entry to remove; after that there is none. Rejects when that is not known. */
  remove(): Promise<boolean> {
    this.#withdrawal.abort();
    return inLine([this.lane], () => this.withdraw());
  }

  /** Whether there was an entry to write to. */
  write(value: string): Promise<boolean> {
    return inLine([this.lane], async () => {
      const path = await this.#find();
      if (path === undefined) return false;
      const text = textOf({ id: this.#id, value }, this.place.scheme);
      return this.#noteLost(path, await this.#zk.write(path, text));
    });
  }

  /**
   * Turns it into a reader at the same place, as Curator's read/write lock downgrades: the reader's node is made, by hand with
   * the writer's number, and then the writer's is deleted. In between the writer is written to: that shows that it was still there after
   * the reader was made, without which it would bring back an entry that others have seen go; and a writer that goes unwritten
   * has left, as those who wait for it know. Whether there was an entry.
   */
  share(value: string): Promise<boolean> {
    return inLine([this.lane], async () => {
      const path = await this.#find();
      if (path === undefined) return false;
      const isReader = parseContender(nameOf(path), this.place.scheme)?.shared;
      const isThere = await (isReader ? this.#zk.write(path, value) : this.#makeReader(path, value));
      if (isThere && this.#twin !== undefined) {
        await this.#zk.delete(this.#twin);
        this.#twin = undefined;
      }
      return this.#noteLost(path, isThere);
    });
  }

  /** Leaves the trace of its hold, a node of the same name in that directory; answers the name, nothing when it has no node. */
  leaveTrace(place: Place): Promise<string | undefined> {
    return inLine([this.lane], async () => {
      const path = await this.#find();
      if (path === undefined) return undefined;
      if (!this.#noteLost(path, (await this.#zk.stat(path)) !== undefined)) return undefined;
      return this.#trace.leave(place, nameOf(path));
    });
  }

  /** Only in line. The seat that it has; rejects with `ENTRY_LOST` when it had one. */
  async seat(): Promise<Seat | undefined> {
    if (!this.#mayBeIn) return undefined;
    const seat = await findSeat(this.#zk, this.place, { id: this.#id, known: this.#path });
    if (!seat && this.#path !== undefined) {
      this.#noteLost(this.#path, false);
      throw entryLost(this.#path);
    }
    [this.#path, this.#token, this.#twin] = [seat?.path, seat?.token, undefined];
    return seat;
  }

  /** Only in line, and when it has none. */
  async take(spec: EntrySpec): Promise<Seat> {
    this.attempted();
    const created = (path: string): void => void (this.#path = path);
    const seat = await takeSeat(this.#outlook, { place: this.place, spec, created });
    this.#token = seat.token;
    return seat;
  }

  /** Only in line, and when it has none. A request that puts it in is about to be sent. */
  attempted(): void {
    this.#mayBeIn = true;
    this.#isUnasked = false;
  }

  /** Only in line. It has made this node, or none. */
  made(node?: { readonly path: string; readonly czxid: bigint }): void {
    [this.#path, this.#token, this.#mayBeIn] = [node?.path, node?.czxid, node !== undefined];
  }

  /**
   * Only in line. Takes out what is left of an attempt that failed for good, of which nobody will be told. A server that refuses
   * that leaves one way to free the queue: to end the session.
   */
  async clear(): Promise<void> {
    try {
      await this.withdraw();
    } catch (error) {
      if (!isDefinite(error) || isQueueLockError(error, 'SESSION_LOST')) throw error;
      this.#outlook.giveUp();
    }
    this.#path = undefined;
    this.#mayBeIn = false;
  }

  /** Only in line. Whether there was an entry to remove. */
  async withdraw(): Promise<boolean> {
    const path = await this.#find();
    if (path === undefined) return false;
    await this.#trace.erase(path);
    this.#outlook.followed.tellLeaving(path, { owned: path === this.#ownedPath });
    const nodes = this.#twin === undefined ? [path] : [this.#twin, path];
    return (await Promise.all(nodes.map((node) => this.#zk.delete(node)))).includes(true);
  }

  /** Only in line. Takes out what an attempt has left that nobody was told of; it may be put in again. */
  async retract(): Promise<void> {
    const path = await this.#find();
    // If the answer to the delete is lost, the node is looked for.
    [this.#path, this.isOrdered] = [undefined, false];
    if (path !== undefined) await this.#zk.delete(path);
  }

  /** From here on the reader is the entry, unless the writer was gone. */
  async #makeReader(writer: string, value: string): Promise<boolean> {
    const token = this.#token ?? (await this.#zk.stat(writer))?.czxid;
    if (token === undefined) return false;
    const reader = `${this.place.directory}/${readerOf(nameOf(writer), token, this.place.scheme)}`;
    this.#twin = reader;
    const isThere = await makeReader(this.#zk, { writer, reader }, value);
    this.#twin = isThere ? writer : undefined;
    if (!isThere) return false;
    this.#path = reader;
    this.#shared$.next();
    return true;
  }

  /** Whoever follows it hears of a loss at once, also while there is no watch on the node. */
  #noteLost(path: string, isThere: boolean): boolean {
    if (!isThere) this.#shared$.error(entryLost(path));
    return isThere;
  }

  async #find(): Promise<string | undefined> {
    if (this.#path !== undefined || !this.#mayBeIn) return this.#path;
    const node = await findNode(this.#zk, this.place, { id: this.#id, known: undefined });
    [this.#path, this.#token] = [node?.path, node?.token];
    return this.#path;
  }
}
