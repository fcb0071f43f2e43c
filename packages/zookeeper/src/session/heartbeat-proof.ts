/**
 * Minimum time from a heartbeat to a later one whose acknowledgement proves that the earlier heartbeat has
 * reached the leader. It is a fraction of the session timeout.
 */
export const PROOF_LAG = 0.2;

/**
 * The rule that an error states when the option `maxBlockedMs` is set: on this backend no other thread can
 * send heartbeats.
 */
export const MAIN_THREAD_RULE =
  'a session of ZooKeeper belongs to one connection, which no other thread can use; set ttlMs above the longest block instead';

/**
 * Computes since when a session is certain to be alive, from its acknowledged heartbeats.
 * A server reports its active sessions to the leader only every half tick. So the acknowledgement of a heartbeat does not prove that this
 * heartbeat has reached the leader. It proves that earlier heartbeats have: those sent at least a fifth of the session timeout before it.
 * The result is the time at which the newest of these earlier heartbeats was sent.
 * This is right if the timeout is at least four ticks. If it is also at least (syncLimit + 2) ticks, it is right even for a server that is
 * cut off from its leader, and for a leader that stalls. The first acknowledged heartbeat of a new connection proves the session from the
 * time of the disconnect on, since the leader checks the session at a reconnect.
 */
export class HeartbeatProof {
  readonly #gapMs: number;
  #base: number;
  /** The time since which the first acknowledged heartbeat of this connection proves the session. `undefined` after that heartbeat. */
  #connectedAfter: number | undefined;
  #sent: number[] = [];

  /** @param startedAt when the connection attempt started; the session cannot be older */
  constructor(timeoutMs: number, startedAt: number) {
    this.#gapMs = timeoutMs * PROOF_LAG;
    this.#base = startedAt;
  }

  /** Records that the connection is down. */
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
