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

/**
 * The properties of the stored entry with the id of a requested one. They may differ from the properties in
 * the request.
 */
type Other = Pick<EntrySpec, 'id' | 'queue' | 'shared'> & { readonly permits: number };
/**
 * Reply to a heartbeat. `there` is the sum of the order numbers of all entries of the session. `waiting` is
 * the same sum over its waiting entries only. The client compares both sums with those of the entries that it
 * knows, and so notices missing and admitted entries.
 */
export interface RenewalReply {
  readonly there: string;
  readonly waiting: string;
  readonly someEnded: boolean;
}

/** Reply of the SQL function `enqueue`. */
export interface Entered extends Other {
  readonly places: readonly Place[];
}

/** Encodes a requested entry for the function `enqueue`. */
export function encodedEntry({ queue, id, shared, limit, permits = 1, value = '' }: EntrySpec): object {
  return { queue: storedText(queue), id, shared, limit, permits, value: storedText(value) };
}
