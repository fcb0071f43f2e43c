// Chapter queue: what is a name, a text, an entry, as they are stored?
// An entry as the store places it (here), names that are allowed (names), texts with every character (text).

import type { EntrySpec } from '@queuelock/core/backend';
import { storedText } from './text.ts';

/** An entry as the store places it. */
export interface Place {
  readonly ord: number;
  readonly admitted: boolean;
  readonly ahead: number;
  readonly other: number | null;
  readonly endsInMs: number | null;
}

/** What the store says of an entry that is another one than is wished for. */
type Other = Pick<EntrySpec, 'id' | 'queue' | 'shared'> & { readonly permits: number };
/** What a renewal answers: sums of the numbers of the session's entries. */
export interface Beat {
  readonly there: string;
  readonly waiting: string;
  readonly someEnded: boolean;
}

/** What an enqueue answers. */
export interface Entered extends Other {
  readonly places: readonly Place[];
}

/** A wish as the store takes it. */
export function wishOf({ queue, id, shared, limit, permits = 1, value = '' }: EntrySpec): object {
  return { queue: storedText(queue), id, shared, limit, permits, value: storedText(value) };
}
