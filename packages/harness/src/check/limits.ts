/** Limits that a run is checked against, in milliseconds unless stated otherwise. */
export interface Limits {
  /** Rule L1: from the death of a holder to the next grant, without faults of the servers. */
  readonly crashMs: number;
  /** Rule L1 with a fault of a server or the network: from the end of that fault to the next grant. */
  readonly crashInTroubleMs: number;
  /** Longest hold in the run. */
  readonly holdMs: number;
  /**
   * Rule L3: additional time for every waiter after the event `calm`, at which all faults are over. Default
   * 10,000.
   */
  readonly settleMs?: number;
  /** Rule L2: 99th percentile of undisturbed hand-offs. Checked only if given. */
  readonly handOverMs?: number;
  /** Rule L4: from `closed` to the end of the process. Default 2,000. */
  readonly exitMs?: number;
  /** Rule L5: longest delay of an event loop that was neither stalled nor frozen. Checked only if given. */
  readonly loopDelayMs?: number;
  /** Rule L6: growth of the heap per attempt, in bytes. Checked only if given. */
  readonly bytesPerCycle?: number;
  /** Longest time for which a holder may still believe after an operator removed its entry. Default 0. */
  readonly evictionMs?: number;
}
