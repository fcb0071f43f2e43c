/** Names of the locks that the process of cycles.ts takes. */
export const CYCLE_NAMES = ['cycle-shared', 'cycle-1', 'cycle-2'] as const;

/** Number of live JavaScript objects in the process, by kind. */
export interface Instances {
  readonly ownerships: number;
  readonly subscriptions: number;
  readonly signals: number;
  readonly promises: number;
  /** Number of all live objects, ownerships, subscriptions, signals and promises included. */
  readonly objects: number;
}

/** An event that the process of cycles.ts prints. */
export type CycleEvent =
  | {
      readonly ev: 'round';
      /** Bytes of the heap in use after garbage collection, including external memory. */
      readonly heapBytes?: number;
      readonly instances?: Instances;
      /** Number of handles, timers and requests that would keep the process alive. */
      readonly resources: number;
    }
  /** Printed when the process has taken and released all locks. Its lock client is still open. */
  | { readonly ev: 'ran' }
  /** Printed when the lock client is closed. `resources` names what would still keep the process alive. */
  | { readonly ev: 'closed'; readonly resources: readonly string[] };
