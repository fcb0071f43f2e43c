import { isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { parseContender, readerOf } from './entries.ts';
import { findSeat, takeSeat, type Seat } from './enqueue.ts';
import { entryLost, entryUnwanted } from './errors.ts';
import { Lane, inLine } from './lane.ts';
import { textOf } from './node-text.ts';
import type { Outlook } from './outlook.ts';
import { withDirectory, type Place } from './parents.ts';
import type { QueuePlace } from './queue-place.ts';
import { Subject, type Observable } from './rx.ts';
import { findTrace } from './traces.ts';

/** Where an entry is to be, and whether an earlier client of its session may have put it there. */
export interface EntryPlace extends QueuePlace {
  readonly isResumed: boolean;
}

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
  #unwanted: AbortController | undefined;
  #isUnwanted = false;
  readonly #shared$ = new Subject<void>();
  #path: string | undefined;
  /** The other node of an entry that turns, or turned, into a reader, while that one may be there. */
  #twin: string | undefined;
  /** Of its hold, once it may be there. */
  #trace: string | undefined;
  /** The node with which it is known to have been alone. */
  #ownedPath: string | undefined;
  /** A create was sent, and not known to have failed. */
  #mayBeIn: boolean;

  constructor(outlook: Outlook, { isResumed, ...place }: EntryPlace, id: string) {
    this.#outlook = outlook;
    this.#zk = outlook.zk;
    this.place = place;
    this.#id = id;
    this.isResumed = isResumed;
    this.#mayBeIn = isResumed;
  }

  /** Its node, once that is known; another one when it has turned into a reader. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Emits when it turns into a reader. */
  get shared$(): Observable<void> {
    return this.#shared$;
  }

  /** Aborts when it is to be removed: what has not begun to put it in need not begin. */
  get unwanted(): AbortSignal {
    this.#unwanted ??= new AbortController();
    if (this.#isUnwanted) this.#unwanted.abort(entryUnwanted(this.#id));
    return this.#unwanted.signal;
  }

  /** With this node it was admitted, and nobody was ahead with whom it conflicts. Whoever waits for it is told so before it leaves. */
  noteOwned(path: string): void {
    this.#ownedPath = path;
  }

  /** Takes a seat, or answers with the one it has. When it rejects with `FOREIGN_FORMAT` it has none. */
  enqueue(spec: EntrySpec): Promise<Seat> {
    return inLine([this.lane], async () => {
      try {
        return (await this.seat()) ?? (await this.take(spec));
      } catch (error) {
        if (isQueueLockError(error, 'FOREIGN_FORMAT')) await this.withdraw();
        throw error;
      }
    });
  }

  /** Whether there was an entry to remove; after that there is none. Rejects when that is not known. */
  remove(): Promise<boolean> {
    this.#isUnwanted = true;
    this.#unwanted?.abort(entryUnwanted(this.#id));
    return inLine([this.lane], () => this.withdraw());
  }

  /** Whether there was an entry to write to. */
  write(value: string): Promise<boolean> {
    return inLine([this.lane], async () => {
      const path = await this.#find();
      if (path === undefined) return false;
      return this.#zk.write(path, textOf({ id: this.#id, value }, this.place.scheme));
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
      return isThere;
    });
  }

  /** Leaves the trace of its hold, a node of the same name in that directory; answers the name, nothing when it has no node. */
  leaveTrace(place: Place): Promise<string | undefined> {
    return inLine([this.lane], async () => {
      const path = await this.#find();
      if (path === undefined || !(await this.#zk.stat(path))) return undefined;
      this.#trace ??= `${place.directory}/${nameOf(path)}`;
      const trace = this.#trace;
      await withDirectory(this.#zk, place, async () => {
        const created = await this.#zk.create(trace, '', 'persistent');
        return created.path !== undefined || created.reason === 'exists' ? true : undefined;
      });
      return nameOf(trace);
    });
  }

  /** Only in line. The seat that it has; rejects with `ENTRY_LOST` when it had one. */
  async seat(): Promise<Seat | undefined> {
    if (!this.#mayBeIn) return undefined;
    const seat = await findSeat(this.#zk, this.place, { id: this.#id, known: this.#path });
    if (!seat && this.#path !== undefined) throw entryLost(this.#path);
    this.#path = seat?.path;
    this.#twin = undefined;
    return seat;
  }

  /** Only in line, and when it has none. */
  take(spec: EntrySpec): Promise<Seat> {
    this.#mayBeIn = true;
    const created = (path: string): void => {
      this.#path = path;
    };
    return takeSeat(this.#outlook, { place: this.place, spec, created });
  }

  /** Only in line. Whether there was an entry to remove. */
  async withdraw(): Promise<boolean> {
    const path = await this.#find();
    if (path === undefined) return false;
    const trace =
      this.#trace ??
      (this.isResumed ? await findTrace(this.#zk, this.place, { id: this.#id, path }) : undefined);
    if (trace !== undefined && (await this.#zk.stat(path))) await this.#zk.delete(trace);
    if (path === this.#ownedPath) this.#outlook.followed.tellOwned(path);
    const nodes = this.#twin === undefined ? [path] : [this.#twin, path];
    const were = await Promise.all(nodes.map((node) => this.#delete(node)));
    return were.includes(true);
  }

  async #delete(node: string): Promise<boolean> {
    const was = await this.#zk.delete(node);
    if (was) this.#outlook.censuses.deleted(this.place.directory);
    return was;
  }

  /** Only in line. Takes out what an attempt has left that nobody was told of; it may be put in again. */
  async retract(): Promise<void> {
    const path = await this.#find();
    // If the answer to the delete is lost, the node is looked for.
    this.#path = undefined;
    if (path !== undefined) await this.#zk.delete(path);
  }

  /** From here on the reader is the entry, unless the writer was gone. */
  async #makeReader(writer: string, value: string): Promise<boolean> {
    const reader = `${this.place.directory}/${readerOf(nameOf(writer), this.place.scheme)}`;
    this.#twin = reader;
    const [created, wasThere] = await Promise.all([
      this.#zk.create(reader, value, 'ephemeral'),
      this.#zk.write(writer, value),
    ]);
    if (!wasThere) {
      await this.#zk.delete(reader);
      this.#twin = undefined;
      return false;
    }
    if (created.path === undefined) await this.#zk.write(reader, value);
    this.#path = reader;
    this.#twin = writer;
    this.#shared$.next();
    return true;
  }

  async #find(): Promise<string | undefined> {
    if (this.#path !== undefined || !this.#mayBeIn) return this.#path;
    const seat = await findSeat(this.#zk, this.place, { id: this.#id, known: undefined });
    this.#path = seat?.path;
    return this.#path;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
