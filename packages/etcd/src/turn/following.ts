import type { AdmissionRule } from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { Entry } from '../entry/entry.ts';
import type { RemovalTools } from './watch-removal.ts';
import type { Successors } from './successors.ts';

/** The dependencies of the turns of an entry. */
export interface Following extends RemovalTools {
  readonly connection: Connection;
  readonly lease: string;
  readonly entry: Entry;
  readonly successors: Successors;
  readonly order: bigint;
  /** The admission rule of this call. The next call for the same entry may have another limit. */
  readonly rule: Required<AdmissionRule>;
}
