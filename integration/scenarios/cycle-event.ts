/** The locks that cycles.ts takes. */
export const CYCLE_NAMES = ['cycle-shared', 'cycle-1', 'cycle-2'] as const;

/** Number of live objects of each kind. */
export interface Instances {
  readonly ownerships: number;
  readonly subscriptions: number;
  readonly signals: number;
  readonly promises: number;
  /** Objects of any kind, these included. */
  readonly objects: number;
}

/** Output of cycles.ts. */
export type CycleEvent =
  | {
      readonly ev: 'round';
      /** Size after garbage collection, including external memory. */
      readonly heapBytes?: number;
      readonly instances?: Instances;
      /** Handles, timers and requests that would keep the process alive. */
      readonly resources: number;
    }
  /** All rounds are over; the client is still open. */
  | { readonly ev: 'ran' }
  /** The client is closed, and there is no other work. */
  | { readonly ev: 'closed'; readonly resources: readonly string[] };
