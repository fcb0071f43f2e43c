// Folder "queue": encodes names, texts and entries for the tables.
// placed.ts (this file) encodes requested entries and parses replies about them. names.ts checks names. text.ts encodes texts.

import type { EntrySpec } from '@queuelock/core/backend';
import { storedText } from './text.ts';

/** The order number and the turn of an entry, as the store returns them. */
export interface Place {
  readonly ord: number;
  readonly admitted: boolean;
  readonly ahead: number;
  readonly other: number | null;
  readonly endsInMs: number | null;
}

/** The properties of a stored entry with the requested id, which may differ from the requested ones. */
type Other = Pick<EntrySpec, 'id' | 'queue' | 'shared'> & { readonly permits: number };
/**
 * Reply to a heartbeat. `there` is the sum of the order numbers of all entries of the session, and `waiting`
 * the sum for its waiting entries. The client compares these sums with those of the entries that it knows.
 */
export interface RenewalReply {
  readonly there: string;
  readonly waiting: string;
  readonly someEnded: boolean;
}

/** Reply to an enqueue. */
export interface Entered extends Other {
  readonly places: readonly Place[];
}

/** Encodes a requested entry for the function `enqueue`. */
export function encodedEntry({ queue, id, shared, limit, permits = 1, value = '' }: EntrySpec): object {
  return { queue: storedText(queue), id, shared, limit, permits, value: storedText(value) };
}
