/** The locks that cycles.ts takes. */
export const CYCLE_NAMES = ['cycle-shared', 'cycle-1', 'cycle-2'] as const;

/** How many of each kind are alive. */
export interface Instances {
  readonly ownerships: number;
  readonly subscriptions: number;
  readonly signals: number;
  readonly promises: number;
  /** Of whatever kind, these included. */
  readonly objects: number;
}

/** What cycles.ts prints. */
export type CycleEvent =
  | {
      readonly ev: 'round';
      /** After garbage collection, what is outside of the heap included. */
      readonly heapBytes?: number;
      readonly instances?: Instances;
      /** What would keep the process alive: handles, timers, requests. */
      readonly resources: number;
    }
  /** All rounds are over; the client is still open. */
  | { readonly ev: 'ran' }
  /** The client is closed, and nothing else is left to do. */
  | { readonly ev: 'closed'; readonly resources: readonly string[] };
