import { debuglog } from 'node:util';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { HeartbeatProof } from '../api/options.ts';
import { distrust, losesEvents, type MemberFacts } from '../server/read-trust.ts';

const log = debuglog('queuelock');

/**
 * Chooses whether a heartbeat is proven by a read or by a write, from the versions of the members. Versions are read when a session is opened,
 * and are valid for a Raft term, or until a request to the member fails. So a cluster that is being upgraded or downgraded is read again. As
 * long as a version is unknown, a write is used.
 */
export class ProofChoice {
  readonly #connection: Connection;
  readonly #heartbeatProof: HeartbeatProof;
  readonly #log: (line: string) => void;
  readonly #told = new Map<Endpoint, MemberFacts>();
  readonly #asking = new Map<Endpoint, Promise<void>>();
  #said = '';

  constructor(
    connection: Connection,
    beats: HeartbeatProof,
    logLine: (line: string) => void = (line) => log(line),
  ) {
    this.#connection = connection;
    this.#heartbeatProof = beats;
    this.#log = logLine;
    void connection.trouble$.forEach((endpoint) => {
      this.#told.delete(endpoint);
      this.#asking.delete(endpoint);
    });
  }

  /**
   * Reads the versions that are not known in this Raft term, without waiting for them. A member whose version is known in a newer term is not
   * read for an older one, in which a replaced leader may still respond.
   */
  prepare(term: string): void {
    if (this.#heartbeatProof !== 'auto') return;
    for (const endpoint of this.#connection.endpoints) {
      const told = this.#told.get(endpoint)?.term ?? 0;
      if (BigInt(told) >= BigInt(term) || this.#asking.has(endpoint)) continue;
      void this.#ask(endpoint).then(() => {
        if (this.#asking.size === 0) this.#say(term);
      });
    }
  }

  /** Returns the known version of a member, or reads it; `undefined` if that fails. Never rejects. */
  async learn(endpoint: Endpoint): Promise<MemberFacts | undefined> {
    if (!this.#told.has(endpoint)) await (this.#asking.get(endpoint) ?? this.#ask(endpoint));
    return this.#told.get(endpoint);
  }

  /** Returns whether a keepalive in this term counts only after a write. */
  strictIn(term: string): boolean {
    if (this.#heartbeatProof !== 'auto') return this.#heartbeatProof === 'strict';
    this.prepare(term);
    return this.#reasons(term).length > 0;
  }

  /** Whether some member may lose watch events, by the known versions. No request is sent. */
  get mayLoseEvents(): boolean {
    return this.#connection.endpoints.some((endpoint) =>
      losesEvents(this.#told.get(endpoint)?.version ?? ''),
    );
  }

  #ask(endpoint: Endpoint): Promise<void> {
    const asking: Promise<void> = this.#connection
      .status(endpoint)
      .then(
        (facts) => {
          // Otherwise a request to the member failed meanwhile, and another server may have taken its address.
          if (this.#asking.get(endpoint) === asking) this.#told.set(endpoint, facts);
        },
        () => undefined, // The next heartbeat repeats the request.
      )
      .finally(() => {
        if (this.#asking.get(endpoint) === asking) this.#asking.delete(endpoint);
      });
    this.#asking.set(endpoint, asking);
    return asking;
  }

  #reasons(term: string): string[] {
    const { endpoints } = this.#connection;
    return distrust(term, new Map(endpoints.map((endpoint) => [endpoint.host, this.#told.get(endpoint)])));
  }

  #say(term: string): void {
    const reasons = this.#reasons(term);
    const line =
      reasons.length === 0
        ? 'etcd: each heartbeat is proven by a linearizable read'
        : `etcd: each heartbeat is proven by a write, which costs a round of consensus per beat and session: ${reasons.join('; ')}`;
    if (line !== this.#said) this.#log(line);
    this.#said = line;
  }
}
