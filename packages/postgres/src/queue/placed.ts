// The folder queue answers: how are names, texts and entries stored?
// Replies about entries (this file), rules for names (names.ts), and the encoding of texts (text.ts).

import type { EntrySpec } from '@queuelock/core/backend';
import { storedText } from './text.ts';

/** The position of an entry as the store returns it. */
export interface Place {
  readonly ord: number;
  readonly admitted: boolean;
  readonly ahead: number;
  readonly other: number | null;
  readonly endsInMs: number | null;
}

/** A stored entry that differs from the requested one of the same id. */
type Other = Pick<EntrySpec, 'id' | 'queue' | 'shared'> & { readonly permits: number };
/** Reply to a renewal, with the sums of the numbers of the session's entries: of all, and of those that wait. */
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
