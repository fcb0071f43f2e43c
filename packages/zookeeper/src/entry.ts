import type { EntrySpec } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { findSeat, takeSeat, type Seat } from './enqueue.ts';
import { entryLost } from './errors.ts';
import { withDirectory, type Place } from './parents.ts';

/**
 * One entry of a session, from the first attempt to enqueue it until it is known to be out. Its calls run one after the
 * other, so a removal decides after an enqueue that was on its way.
 */
export class OwnEntry {
  readonly #zk: ZkDriver;
  readonly #place: Place;
  readonly #id: string;
  #path: string | undefined;
  /** Of its hold, once it may be there. */
  #trace: string | undefined;
  /** A create was sent, and not known to have failed. */
  #mayBeIn = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(zk: ZkDriver, place: Place, id: string) {
    this.#zk = zk;
    this.#place = place;
    this.#id = id;
  }

  /** Takes a seat, or answers with the one it has. */
  enqueue(spec: EntrySpec): Promise<Seat> {
    return this.#next(async () => {
      const seat = this.#mayBeIn ? await findSeat(this.#zk, this.#place, this.#id) : undefined;
      if (!seat && this.#path !== undefined) throw entryLost(this.#path);
      this.#mayBeIn = true;
      const created = (path: string): void => {
        this.#path = path;
      };
      return seat ?? takeSeat(this.#zk, { place: this.#place, spec, created });
    });
  }

  /** Whether there was an entry to remove; after that there is none. Rejects when that is not known. */
  remove(): Promise<boolean> {
    return this.#next(async () => {
      const path = await this.#find();
      if (path === undefined) return false;
      if (this.#trace !== undefined && (await this.#zk.stat(path))) await this.#zk.delete(this.#trace);
      return this.#zk.delete(path);
    });
  }

  /** Leaves the trace of its hold, a node of the same name in that directory; answers the name, nothing when it has no node. */
  leaveTrace(place: Place): Promise<string | undefined> {
    return this.#next(async () => {
      const path = await this.#find();
      if (path === undefined || !(await this.#zk.stat(path))) return undefined;
      const name = path.slice(path.lastIndexOf('/') + 1);
      const trace = `${place.directory}/${name}`;
      this.#trace = trace;
      await withDirectory(this.#zk, place, async () => {
        const created = await this.#zk.create(trace, '', 'persistent');
        return created.path !== undefined || created.reason === 'exists' ? true : undefined;
      });
      return name;
    });
  }

  /** Whether there was an entry to write to. */
  write(value: string): Promise<boolean> {
    return this.#next(async () => {
      const path = await this.#find();
      return path !== undefined && (await this.#zk.write(path, value));
    });
  }

  async #find(): Promise<string | undefined> {
    if (this.#path !== undefined || !this.#mayBeIn) return this.#path;
    return (await findSeat(this.#zk, this.#place, this.#id))?.path;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result;
    return result;
  }
}
