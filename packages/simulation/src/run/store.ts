import type { Link } from '../link.ts';
import type { Backend, Product } from '../product.ts';
import type { Random } from '../random.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { ClientPlan, Plan } from './plan.ts';

/** One server of the simulated store, which faults can affect. */
export interface StoreMember {
  readonly machine: Machine;
  /** Whether the server believes that it leads. */
  readonly leads: boolean;
  readonly isUp: boolean;
  /** Whether the server is cut off from the other members. */
  isCut: boolean;
  /** Additional delay in milliseconds before the server applies changes. */
  lagMs: number;
  /** Ends the process of the server, which loses everything except its log. */
  crash(): void;
}

/** An entry of a queue in the store. */
export interface StoredEntry {
  readonly key: string;
  readonly token: bigint;
  readonly shared: boolean;
  readonly permits: number;
}

/** The connection of one process to the store. */
export interface Connected {
  readonly backend: Backend;
  /** Number of open connections to the store beyond those that the process needs. */
  readonly excess: number;
  /** Closes the connection without a message, as when the process is killed. */
  crash(): void;
}

/**
 * Connects one client to the store, and lets faults cut its connections or deny its requests. A process that
 * resumes the client's session uses the same object.
 */
export interface Access {
  /** The connection to each server; `undefined` before the first use. */
  readonly links: readonly (Link | undefined)[];
  connect(machine: Machine, plan: ClientPlan): Connected;
  /** Denies all reads and writes of the client, or allows them again. */
  deny(isDenied: boolean): void;
}

/** A simulated store with its members, as a run uses it. */
export interface Store {
  readonly members: readonly StoreMember[];
  readonly leader: StoreMember | undefined;
  /** Largest number of requests per second that a client may send. */
  readonly mostASecond: number;
  /**
   * Called for each entry that a request has deleted. `isNamed` is true if an operator or a client of another
   * session deleted this entry. On etcd the simulation recognizes such a request by its comparison of the
   * revision at which the entry was created.
   */
  onDeleted: (entry: Pick<StoredEntry, 'key' | 'token'>, isNamed?: boolean) => void;

  heal(member: StoreMember): void;
  restart(member: StoreMember): void;
  /** Compacts the history of the store. Does nothing on ZooKeeper, which has no history. */
  compact(): void;

  /**
   * Returns the object that connects the client named `name` to the store.
   * @param onSent called with every request that the client sends
   */
  access(name: string, onSent: () => void): Access;

  standing(queue: string): readonly StoredEntry[];
  /**
   * Returns the key of the entry whose client has locked the single key of this queue. Returns another text
   * while no queuelock client has locked it, and `undefined` if the queue has no single key.
   */
  owner(queue: string): string | undefined;
  /** Returns the present state of a queue as text, in the form in which observers show it. */
  shown(queue: string): string;
  /**
   * Returns the first moment from `since` on at which the queue had the state `text`. Returns `since` if the
   * store no longer has the states of that time.
   */
  shownAt(queue: string, text: string, since: number): number | undefined;

  /** Deletes the entry at index `place`: 0 is the oldest entry, -1 the newest. */
  removeEntry(queue: string, place: number): void;
  /** Adds an entry that no queuelock client made, and removes it after `forMs`. */
  enterStranger(queue: string, forMs: number, degree: number): void;

  /** Returns the keys or nodes that should not exist after all clients have ended. */
  left(): readonly string[];
}

/** The parts of a simulated run that its store uses. */
export interface Premises {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly product: Product;
  readonly plan: Plan;
  /** Adds a line to the log of the run. */
  readonly note: (line: string) => void;
}
