import { debuglog } from 'node:util';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { HeartbeatProof } from '../api/options.ts';
import { distrust, losesEvents, type MemberFacts } from '../server/read-trust.ts';

const log = debuglog('queuelock');

/**
 * Whether a heartbeat is proven by a read, or has to be by a write: what the members' versions say about their reads. They are
 * asked when a session is opened and remembered for a Raft term, or until a request to the member fails: a cluster that
 * is being upgraded, or set back to an older version, is asked again. What is not known yet is taken for the worse.
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
   * Asks the members that have not told their version in this Raft term. Nobody waits for the answers. One that told it in a newer
   * term has nothing else to say of an older one, in which a leader that was replaced may go on to answer.
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

  /** What the member has told of itself, or tells now; `undefined` when it does not. Never rejects. */
  async learn(endpoint: Endpoint): Promise<MemberFacts | undefined> {
    if (!this.#told.has(endpoint)) await (this.#asking.get(endpoint) ?? this.#ask(endpoint));
    return this.#told.get(endpoint);
  }

  /** Whether a keepalive that was answered in this term counts only after a write. */
  strictIn(term: string): boolean {
    if (this.#heartbeatProof !== 'auto') return this.#heartbeatProof === 'strict';
    this.prepare(term);
    return this.#reasons(term).length > 0;
  }

  /** Whether some member may lose events of watches, as far as it is known: nobody is asked. */
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
          // Else it was in trouble meanwhile, and may be another one by now.
          if (this.#asking.get(endpoint) === asking) this.#told.set(endpoint, facts);
        },
        () => undefined, // asked again with the next heartbeat
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
