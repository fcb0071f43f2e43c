import type { AdmissionRule } from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { Entry } from '../entry/entry.ts';
import type { RemovalTools } from './watch-removal.ts';
import type { Successors } from './successors.ts';

/** The parts of the session from which the turns of an entry are computed, such as the connection, the lease and the watches. */
export interface TurnContext extends RemovalTools {
  readonly connection: Connection;
  readonly lease: string;
  readonly successors: Successors;
}

/** An entry, its admission rule and its session: the data from which its turns are computed. */
export interface Following {
  readonly context: TurnContext;
  readonly entry: Entry;
  readonly order: bigint;
  /** The limit and permits with which the caller enqueued the entry. A later call may enqueue the same entry with another limit or other permits. */
  readonly rule: Required<AdmissionRule>;
}
