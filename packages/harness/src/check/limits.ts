/** What a run is measured against. All in milliseconds unless said otherwise. */
export interface Limits {
  /** L1: from the death of a holder to the next grant, while the servers are well. */
  readonly crashMs: number;
  /** L1, where a server or the network was in trouble too: from the end of that trouble. */
  readonly crashInTroubleMs: number;
  /** The longest hold that the load makes. */
  readonly holdMs: number;
  /** L3: what everybody gets on top after the calm. Default 10,000. */
  readonly settleMs?: number;
  /** L2: p99 of undisturbed hand-overs. Judged only if given. */
  readonly handOverMs?: number;
  /** L4: from `closed` to the end of the process. Default 2,000. */
  readonly exitMs?: number;
  /** L5: the longest delay of an event loop that was neither stalled nor frozen. Judged only if given. */
  readonly loopDelayMs?: number;
  /** L6: growth of the heap per attempt, in bytes. Judged only if given. */
  readonly bytesPerCycle?: number;
  /** How much longer one may believe whose entry an operator removed. Default 0. */
  readonly evictionMs?: number;
}
