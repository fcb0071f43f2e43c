/** Limits that a run is checked against, in milliseconds unless stated otherwise. */
export interface Limits {
  /** L1: from the death of a holder to the next grant, without faults of the servers. */
  readonly crashMs: number;
  /** L1 with a fault of a server or the network: from the end of that fault. */
  readonly crashInTroubleMs: number;
  /** Longest hold of the load. */
  readonly holdMs: number;
  /** L3: additional time for every waiter after the calm. Default 10,000. */
  readonly settleMs?: number;
  /** L2: p99 of undisturbed hand-offs. Checked only if given. */
  readonly handOverMs?: number;
  /** L4: from `closed` to the end of the process. Default 2,000. */
  readonly exitMs?: number;
  /** L5: longest delay of an event loop that was neither stalled nor frozen. Checked only if given. */
  readonly loopDelayMs?: number;
  /** L6: growth of the heap per attempt, in bytes. Checked only if given. */
  readonly bytesPerCycle?: number;
  /** How much longer a holder may believe after an operator removed its entry. Default 0. */
  readonly evictionMs?: number;
}
