import type { KeyRef, QueueRows } from '../queue/ahead.ts';

/** The key and the order number of an entry that was found in the store, and whether it has a mark. */
export interface Found {
  readonly key: Buffer;
  readonly order: bigint;
  readonly marked: boolean;
}

/** What happened to one entry of an enqueue request. */
export type Entered =
  /**
   * The enqueue request created the entry, and read the queue: all entries ahead (`rows`), or only the last entry ahead (`behind`). With `withSingle`
   * it also created the single key of the queue.
   */
  | {
      readonly status: 'made';
      readonly order: bigint;
      readonly rows?: QueueRows;
      readonly behind?: KeyRef;
      readonly withSingle?: true;
    }
  /** The entry existed already: an earlier request for it created it, and the response to that request was lost. */
  | ({ readonly status: 'found' } & Found)
  /**
   * The enqueue request created no entry. Either the session's generation key has changed (see `generation.ts`), or another entry that the same
   * transaction was to create already exists.
   */
  | { readonly status: 'outdated'; readonly generation: bigint }
  /**
   * The queue was not empty, so the enqueue request created no entry. `contenders` is false if the queue has only keys of nested names, such as `a/b`
   * in the queue `a`.
   */
  | { readonly status: 'occupied'; readonly contenders: boolean };
