/** The options of a claim that affect whether and when it is granted. */
export interface Terms {
  readonly isShared?: true;
  readonly limit?: number;
  readonly permits?: number;
  readonly maxWaiters?: number;
  /** Whether the claim steals the lock from its holder. */
  readonly isTheft?: true;
  /** Whether the claim sends a handover request to the holder. */
  readonly isRequest?: true;
  /** Whether the claim is a try: it is admitted at once or leaves the queue, and does not wait. */
  readonly isTry?: true;
}

/** The reply of a holder to a request: the name of a method of `HandoverRequest`. */
export type Reply = 'decline' | 'yieldToQueue' | 'yieldToRequester';

/**
 * One step of a script. Claims are named `c1`, `c2`, …; clients `A`, `B`, …; queues by one letter, which
 * decides the kind of their locks (see `KIND_OF`).
 */
export type Step =
  | {
      readonly act: 'claim';
      readonly claim: string;
      readonly client: string;
      readonly queues: readonly string[];
      readonly terms: Terms;
    }
  | { readonly act: 'abort' | 'release' | 'downgrade' | 'update'; readonly claim: string }
  | { readonly act: 'reply'; readonly claim: string; readonly to: string; readonly reply: Reply }
  /**
   * A step that removes the entry of a claim. `evict`: by a client of the library. `remove`: by an operator,
   * directly in the store.
   */
  | { readonly act: 'evict' | 'remove'; readonly claim: string; readonly queue: string }
  /**
   * A step that ends or moves the session of a client. `end session`: by an operator, directly in the store.
   * `close`: in an orderly way; the next claim opens another client. `move`: another client resumes the
   * session.
   */
  | { readonly act: 'end session' | 'close' | 'move'; readonly client: string }
  | { readonly act: 'limit'; readonly queue: string; readonly limit: number }
  /** A step in which a client lists all queues, and reads the token of every entry. */
  | { readonly act: 'list' }
  /** The last step of each script, which releases every claim as soon as it holds. */
  | { readonly act: 'drain' };

/** The kinds of queues. A `varying` limit is a stream that all claims of the queue share. */
export const KIND_OF: Readonly<Record<string, 'lock' | 'semaphore' | 'varying'>> = {
  a: 'lock',
  b: 'lock',
  s: 'semaphore',
  v: 'varying',
};

/** The largest limit of a queue whose limit varies, and the limit that it starts with. */
export const LARGEST_LIMIT = 4;
export const FIRST_LIMIT = 2;

/** Features that cost requests, so that only some scripts use them. */
export interface Features {
  /** Whether the claims of the script report their positions. */
  readonly positions: boolean;
  /** Whether the script's claims send handover requests to holders, which reply to them. */
  readonly requests: boolean;
  /** Whether the script evicts entries and steals locks. */
  readonly evictions: boolean;
  /** Whether the script's clients record their holds. */
  readonly records: boolean;
}

export function textOf({ act, ...rest }: Step): string {
  const parts = Object.values(rest).map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
  return [act, ...parts].join(' ');
}
