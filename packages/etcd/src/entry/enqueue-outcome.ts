import type { KeyRef, QueueRows } from '../queue/ahead.ts';

/** An entry as the store contains it. */
export interface Found {
  readonly key: Buffer;
  readonly order: bigint;
  readonly marked: boolean;
}

/** The outcome of an enqueue for one entry. */
export type Entered =
  /**
   * The entry was created. The queue was read in the same request: all entries ahead (`rows`), or the last one (`behind`). `withSingle`: its
   * single key was created too.
   */
  | {
      readonly status: 'made';
      readonly order: bigint;
      readonly rows?: QueueRows;
      readonly behind?: KeyRef;
      readonly withSingle?: true;
    }
  /** The entry exists since an earlier attempt whose response was lost. */
  | ({ readonly status: 'found' } & Found)
  /** The entry was not created: the server has another generation than the request compared, or another entry of the transaction already exists. */
  | { readonly status: 'outdated'; readonly generation: bigint }
  /** The queue was not empty, and the entry was not created. `contenders`: entries or the single key exist, not only keys of nested names. */
  | { readonly status: 'occupied'; readonly contenders: boolean };
