import type { Rule } from './rule.ts';

/** An event of a simulated run, for the picture of the run. Its time is simulated time in milliseconds. */
export type Fact = { readonly atMs: number } & FactDetails;

export type FactDetails =
  /** Event: a client begins to acquire `queues`. */
  | {
      readonly type: 'wants';
      readonly who: string;
      readonly client: string;
      readonly queues: readonly string[];
    }
  /** Event: an attempt to acquire has failed, or its client has given up. `why` is the reason. */
  | { readonly type: 'gets nothing'; readonly who: string; readonly why: string }
  | { readonly type: 'holds'; readonly who: string; readonly queue: string; readonly token: bigint }
  /**
   * Event: a hold has ended, or the run has ended during the hold. Until `untilMs` the holder believed that
   * it holds.
   */
  | {
      readonly type: 'held';
      readonly who: string;
      readonly queue: string;
      readonly untilMs: number;
      readonly how: HoldEnd;
    }
  /** Event: a fault begins. `target` is a client, or another part of the system. */
  | { readonly type: 'fault'; readonly what: string; readonly target: string; readonly forMs: number }
  | { readonly type: 'frozen'; readonly client: string; readonly forMs: number }
  | { readonly type: 'crashes'; readonly client: string }
  | { readonly type: 'broken'; readonly rule: Rule; readonly detail: string };

export type HoldEnd = 'released' | 'lost' | 'client gone' | 'still holds';
