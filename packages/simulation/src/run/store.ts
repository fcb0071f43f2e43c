import type { Link } from '../link.ts';
import type { Backend, Product } from '../product.ts';
import type { Random } from '../random.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { ClientPlan, Plan } from './plan.ts';

/** One server, as faults befall it. */
export interface StoreMember {
  readonly machine: Machine;
  /** Whether it believes that it leads. */
  readonly leads: boolean;
  readonly isUp: boolean;
  /** Whether the other members cannot be reached. */
  isCut: boolean;
  /** How much later it reads than others. */
  lagMs: number;
  /** Loses everything but its log. */
  crash(): void;
}

/** Who stands in a queue, as the store has it. */
export interface Standing {
  readonly key: string;
  readonly token: bigint;
  readonly shared: boolean;
  readonly permits: number;
}

/** What one process has of the store. */
export interface Connected {
  readonly backend: Backend;
  /** How many connections it keeps beyond those that it needs. */
  readonly excess: number;
  /** The process is gone. */
  crash(): void;
}

/** The way of one client, and of the process that comes after it, to the store. */
export interface Access {
  /** To each member, once there is one. */
  readonly links: readonly (Link | undefined)[];
  connect(machine: Machine, plan: ClientPlan): Connected;
  /** Whether it may read and write nothing. */
  deny(isDenied: boolean): void;
}

/** A store with its members, as a run uses it: what is not the same for all of them. */
export interface Store {
  readonly members: readonly StoreMember[];
  readonly leader: StoreMember | undefined;
  /** How many requests a client may send in a second. */
  readonly mostASecond: number;
  /**
   * Hears of entries that a request has deleted, and whether it named that life of the key: so do those who remove what they need not have made
   * themselves.
   */
  onDeleted: (entry: Pick<Standing, 'key' | 'token'>, isNamed?: boolean) => void;

  heal(member: StoreMember): void;
  restart(member: StoreMember): void;
  /** Forgets history, if it has any. */
  compact(): void;

  /** @param onSent hears of every request */
  access(name: string, onSent: () => void): Access;

  standing(queue: string): readonly Standing[];
  /** Whose key the single one is that goes with this queue, or why nobody may hold it; nothing where there is none. */
  owner(queue: string): string | undefined;
  /** How a queue is shown now. */
  shown(queue: string): string;
  /** The first moment since `since` at which it was shown like that; `since` where that is not known any more. */
  shownAt(queue: string, text: string, since: number): number | undefined;

  /** Deletes the entry at that place: 0 is that of the one that has been there for longest, -1 of the newest. */
  removeEntry(queue: string, place: number): void;
  /** A client of another kind stands in line for a while. */
  enterStranger(queue: string, forMs: number, degree: number): void;

  /** What should not be there when all clients are gone. */
  left(): readonly string[];
}

/** What a store is made of. */
export interface Premises {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly product: Product;
  readonly plan: Plan;
  /** A line for the story. */
  readonly note: (line: string) => void;
}
