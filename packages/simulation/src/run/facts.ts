import type { Rule } from './rule.ts';

/** Facts of a run for a drawing. Times are true times in milliseconds. */
export type Fact = { readonly atMs: number } & FactDetails;

export type FactDetails =
  /** An acquisition, by name, of a client that enters these queues. */
  | {
      readonly type: 'wants';
      readonly who: string;
      readonly client: string;
      readonly queues: readonly string[];
    }
  /** It ended without a hold. */
  | { readonly type: 'gets nothing'; readonly who: string; readonly why: string }
  | { readonly type: 'holds'; readonly who: string; readonly queue: string; readonly token: bigint }
  /** The hold has ended, or the run has: until then its holder believed in it. */
  | {
      readonly type: 'held';
      readonly who: string;
      readonly queue: string;
      readonly untilMs: number;
      readonly how: HoldEnd;
    }
  /** `target`: a client, or another part of the system. */
  | { readonly type: 'fault'; readonly what: string; readonly target: string; readonly forMs: number }
  | { readonly type: 'frozen'; readonly client: string; readonly forMs: number }
  | { readonly type: 'crashes'; readonly client: string }
  | { readonly type: 'broken'; readonly rule: Rule; readonly detail: string };

export type HoldEnd = 'released' | 'lost' | 'client gone' | 'still holds';
