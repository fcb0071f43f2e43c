import { debuglog } from 'node:util';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { HeartbeatProof } from '../api/options.ts';
import { distrust, losesEvents, type MemberFacts } from '../server/read-trust.ts';

const log = debuglog('queuelock');

/**
 * Chooses whether a read or a write proves a heartbeat, by the versions of the members: some versions may return stale reads, which prove nothing.
 * Versions are read when a session opens. They are valid for one Raft term, or until a request to the member fails, so that upgrades and downgrades
 * are noticed. While a version is unknown, a write is used.
 */
export class ProofChoice {
  readonly #connection: Connection;
  readonly #heartbeatProof: HeartbeatProof;
  readonly #log: (line: string) => void;
  readonly #facts = new Map<Endpoint, MemberFacts>();
  readonly #reads = new Map<Endpoint, Promise<void>>();
  #lastLogged = '';

  constructor(
    connection: Connection,
    heartbeatProof: HeartbeatProof,
    logLine: (line: string) => void = (line) => log(line),
  ) {
    this.#connection = connection;
    this.#heartbeatProof = heartbeatProof;
    this.#log = logLine;
    void connection.failures$.forEach((endpoint) => {
      this.#facts.delete(endpoint);
      this.#reads.delete(endpoint);
    });
  }

  /**
   * Reads the versions of the members that are not known in this Raft term, without waiting for them. A version that was read in a newer term is not
   * read again, since a replaced leader may still respond in the older term.
   */
  prepare(term: string): void {
    if (this.#heartbeatProof !== 'auto') return;
    for (const endpoint of this.#connection.endpoints) {
      const knownTerm = this.#facts.get(endpoint)?.term ?? 0;
      if (BigInt(knownTerm) >= BigInt(term) || this.#reads.has(endpoint)) continue;
      void this.#read(endpoint).then(() => {
        if (this.#reads.size === 0) this.#logChoice(term);
      });
    }
  }

  /** Returns the version of a member if it is known; otherwise reads it. Resolves with `undefined` if the read fails. Never rejects. */
  async learn(endpoint: Endpoint): Promise<MemberFacts | undefined> {
    if (!this.#facts.has(endpoint)) await (this.#reads.get(endpoint) ?? this.#read(endpoint));
    return this.#facts.get(endpoint);
  }

  /** Returns whether a heartbeat in this Raft term needs a write as its proof. */
  strictIn(term: string): boolean {
    if (this.#heartbeatProof !== 'auto') return this.#heartbeatProof === 'strict';
    this.prepare(term);
    return this.#reasons(term).length > 0;
  }

  /** Whether a member may lose watch events, by the versions that are known so far. Sends no request. */
  get mayLoseEvents(): boolean {
    return this.#connection.endpoints.some((endpoint) =>
      losesEvents(this.#facts.get(endpoint)?.version ?? ''),
    );
  }

  #read(endpoint: Endpoint): Promise<void> {
    const reading: Promise<void> = this.#connection
      .status(endpoint)
      .then(
        (facts) => {
          // If a request to the member failed during this read of its version, `#reads` no longer contains the read. Then the version is ignored,
          // because another server may have the member's address.
          if (this.#reads.get(endpoint) === reading) this.#facts.set(endpoint, facts);
        },
        () => undefined, // Ignores a failed read, since the next heartbeat reads the version again.
      )
      .finally(() => {
        if (this.#reads.get(endpoint) === reading) this.#reads.delete(endpoint);
      });
    this.#reads.set(endpoint, reading);
    return reading;
  }

  #reasons(term: string): string[] {
    const { endpoints } = this.#connection;
    return distrust(term, new Map(endpoints.map((endpoint) => [endpoint.host, this.#facts.get(endpoint)])));
  }

  #logChoice(term: string): void {
    const reasons = this.#reasons(term);
    const line =
      reasons.length === 0
        ? 'etcd: each heartbeat is proven by a linearizable read'
        : `etcd: each heartbeat is proven by a write, which costs a round of consensus per heartbeat and session: ${reasons.join('; ')}`;
    if (line !== this.#lastLogged) this.#log(line);
    this.#lastLogged = line;
  }
}
