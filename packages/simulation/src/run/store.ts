import type { Link } from '../link.ts';
import type { Backend, Product } from '../product.ts';
import type { Random } from '../random.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { ClientPlan, Plan } from './plan.ts';

/** One server, as a target of faults. */
export interface StoreMember {
  readonly machine: Machine;
  /** Whether it believes to lead. */
  readonly leads: boolean;
  readonly isUp: boolean;
  /** Whether it is cut off from the other members. */
  isCut: boolean;
  /** Additional delay of applying. */
  lagMs: number;
  /** Loses everything except its log. */
  crash(): void;
}

/** An entry of a queue in the store. */
export interface StoredEntry {
  readonly key: string;
  readonly token: bigint;
  readonly shared: boolean;
  readonly permits: number;
}

/** A process's access to the store. */
export interface Connected {
  readonly backend: Backend;
  /** Number of connections that it keeps beyond the needed ones. */
  readonly excess: number;
  /** Ends with the process. */
  crash(): void;
}

/** Access of one client, and of the process that succeeds it, to the store. */
export interface Access {
  /** Link to each member, once there is one. */
  readonly links: readonly (Link | undefined)[];
  connect(machine: Machine, plan: ClientPlan): Connected;
  /** Denies all reads and writes, or allows them again. */
  deny(isDenied: boolean): void;
}

/** A store with its members, as a run uses it: the interface for all simulated stores. */
export interface Store {
  readonly members: readonly StoreMember[];
  readonly leader: StoreMember | undefined;
  /** Largest number of requests of a client per second. */
  readonly mostASecond: number;
  /**
   * Called with entries that a request has deleted, and whether the request named that life of the key. A client that removes
   * entries of others does not.
   */
  onDeleted: (entry: Pick<StoredEntry, 'key' | 'token'>, isNamed?: boolean) => void;

  heal(member: StoreMember): void;
  restart(member: StoreMember): void;
  /** Compacts the history, if it has any. */
  compact(): void;

  /** @param onSent Called with every request. */
  access(name: string, onSent: () => void): Access;

  standing(queue: string): readonly StoredEntry[];
  /** Returns the owner of the single key of this queue, or why it may not be held; `undefined` without a single key. */
  owner(queue: string): string | undefined;
  /** Returns how a queue is shown now. */
  shown(queue: string): string;
  /** Returns the first moment from `since` on at which it was shown like that; `since` if that is not known any more. */
  shownAt(queue: string, text: string, since: number): number | undefined;

  /** Deletes the entry at that index: 0 is the oldest, -1 the newest. */
  removeEntry(queue: string, place: number): void;
  /** Adds an entry of another kind of client for a while. */
  enterStranger(queue: string, forMs: number, degree: number): void;

  /** Returns what should not exist after all clients have ended. */
  left(): readonly string[];
}

/** Dependencies of a store. */
export interface Premises {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly product: Product;
  readonly plan: Plan;
  /** Adds a line to the log. */
  readonly note: (line: string) => void;
}
