/** By how much of the timeout a beat has to be older than an acknowledged one to be proven by it. */
export const PROOF_LAG = 0.2;

/**
 * What the acknowledged heartbeats of a session prove.
 *
 * A server that the client is connected to tells the leader which sessions it heard from only every half tick, so an
 * acknowledged write proves that an *earlier* one has been counted, not that it itself has: the proven base is the newest
 * beat sent at least a fifth of the timeout before the newest acknowledged one. That holds while the timeout is
 * at least four ticks; with (syncLimit + 2) ticks also against a server cut off from its leader and a leader that stalls.
 * A new connection is checked by the leader, after the old one was seen to be down.
 */
export class HeartbeatProof {
  readonly #gapMs: number;
  #base: number;
  /** What the first beat of this connection proves. */
  #connectedAfter: number | undefined;
  #sent: number[] = [];

  /** @param begunAt when the connection was begun: the session cannot be older */
  constructor(timeoutMs: number, begunAt: number) {
    this.#gapMs = timeoutMs * PROOF_LAG;
    this.#base = begunAt;
  }

  /** The connection was seen to be down. */
  disconnected(at: number): void {
    this.#sent = [];
    this.#connectedAfter = at;
  }

  /** A beat was acknowledged; answers with the time from which the server counts at the earliest. */
  acknowledged(sentAt: number): number {
    const proven = this.#sent.filter((earlier) => earlier <= sentAt - this.#gapMs);
    this.#base = Math.max(this.#base, this.#connectedAfter ?? this.#base, ...proven);
    this.#connectedAfter = undefined;
    this.#sent = [...this.#sent.slice(Math.max(0, proven.length - 1)), sentAt];
    return this.#base;
  }
}
