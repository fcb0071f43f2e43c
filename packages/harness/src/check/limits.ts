/** Limits that a run is checked against, in milliseconds unless stated otherwise. */
export interface Limits {
  /**
   * Rule L1: the longest time from the death of a holder's process to the next grant, without faults of the
   * servers.
   */
  readonly crashMs: number;
  /**
   * Rule L1 with a fault of a server or the network: the longest time from the end of that fault to the next
   * grant.
   */
  readonly crashInTroubleMs: number;
  /**
   * The longest time for which a worker of the run may hold a lock. Rule L3 adds this time to its limit for
   * each attempt ahead.
   */
  readonly holdMs: number;
  /**
   * Rule L3: how long after the end of all faults (the event `calm`) each attempt must have ended. The check
   * adds `crashMs` to this time, and `holdMs` for the attempt itself and for each attempt ahead. Default
   * 10,000.
   */
  readonly settleMs?: number;
  /**
   * Rule L2: the longest duration that 99 % of the hand-offs without faults may reach. If absent, the rule is
   * not checked.
   */
  readonly handOverMs?: number;
  /** Rule L4: the longest time from the event `closed` to the exit of the process. Default 2,000. */
  readonly exitMs?: number;
  /**
   * Rule L5: the longest delay of an event loop that the test did not block. If absent, the rule is not
   * checked.
   */
  readonly loopDelayMs?: number;
  /** Rule L6: the largest growth of the heap in bytes per attempt. If absent, the rule is not checked. */
  readonly bytesPerCycle?: number;
  /**
   * How long a holder may still believe in its hold after an operator removed its entry, since it cannot
   * notice the removal at once. Default 0.
   */
  readonly evictionMs?: number;
}
