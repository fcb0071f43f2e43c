import type { AdmissionRule } from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { Entry } from '../entry/entry.ts';
import type { RemovalTools } from './watch-removal.ts';
import type { Successors } from './successors.ts';

/** What is needed to compute and follow the turns of an entry. */
export interface Following extends RemovalTools {
  readonly connection: Connection;
  readonly lease: string;
  readonly entry: Entry;
  readonly successors: Successors;
  readonly order: bigint;
  /**
   * The limit and permits of the call that enqueued the entry and follows its turns. A later call may enqueue the same entry with another
   * limit or other permits.
   */
  readonly rule: Required<AdmissionRule>;
}
