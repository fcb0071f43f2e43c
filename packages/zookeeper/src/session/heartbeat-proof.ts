/** The fraction of the timeout by which a heartbeat must be older than an acknowledged one to be proven by it. */
export const PROOF_LAG = 0.2;

/**
 * Computes what the acknowledged heartbeats of a session prove.
 *
 * A server reports its active sessions to the leader only every half tick. So an acknowledged write proves that an *earlier* heartbeat was
 * counted, not this one. The proven base is the newest heartbeat sent at least a fifth of the timeout before the newest acknowledged one.
 * That holds while the timeout is at least four ticks. With (syncLimit + 2) ticks it also holds for a server that is cut off from its
 * leader, and for a leader that stalls. The leader checks a new connection after the old one was down.
 */
export class HeartbeatProof {
  readonly #gapMs: number;
  #base: number;
  /** The time that the first heartbeat of this connection proves. */
  #connectedAfter: number | undefined;
  #sent: number[] = [];

  /** @param startedAt when the connection attempt started; the session cannot be older */
  constructor(timeoutMs: number, startedAt: number) {
    this.#gapMs = timeoutMs * PROOF_LAG;
    this.#base = startedAt;
  }

  /** Records that the connection was seen to be down. */
  disconnected(at: number): void {
    this.#sent = [];
    this.#connectedAfter = at;
  }

  /**
   * Records an acknowledged heartbeat.
   * @returns the earliest time at which the server may have started to count the session timeout
   */
  acknowledged(sentAt: number): number {
    const proven = this.#sent.filter((earlier) => earlier <= sentAt - this.#gapMs);
    this.#base = Math.max(this.#base, this.#connectedAfter ?? this.#base, ...proven);
    this.#connectedAfter = undefined;
    this.#sent = [...this.#sent.slice(Math.max(0, proven.length - 1)), sentAt];
    return this.#base;
  }
}
