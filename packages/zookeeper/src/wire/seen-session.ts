import type { Clock } from '@queuelock/core/backend';
import type { SessionKey } from '../driver/driver.ts';
import type { Hello } from './handshake.ts';
import { sessionOf } from './session-key.ts';

/** The session that a client requests: its TTL, and the key of an existing session if it is to be resumed. */
interface Wanted {
  readonly ttlMs: number;
  readonly session?: SessionKey | undefined;
  readonly clock: Clock;
}

// The session key while there is no session: its id and password are all zeroes.
const NO_KEY: SessionKey = { client_id: '0', client_password: '0'.repeat(32) };
// For this many session timeouts after a connection broke, the client sends the id of its last transaction to
// servers. If all servers refuse the client for this time, they have lost that transaction, for instance
// because a backup was restored.
const TRUSTED_FOR = 2;

/**
 * The data of a session that the client keeps from one connection to the next, such as the key and the last
 * transaction.
 */
export class SeenSession {
  readonly #ttlMs: number;
  readonly #clock: Clock;
  #key: SessionKey | undefined;
  #timeoutMs = 0;
  #begunAt = 0;
  #lastZxid = 0n;
  #lostAt: number | undefined;

  constructor({ ttlMs, session, clock }: Wanted) {
    this.#ttlMs = Math.round(ttlMs);
    this.#key = session;
    this.#clock = clock;
  }

  get key(): SessionKey {
    return this.#key ?? NO_KEY;
  }

  /** The session timeout that the server granted. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** The start time of the connection attempt that created or resumed the session. */
  get begunAt(): number {
    return this.#begunAt;
  }

  /** Whether the session may have read transactions whose ids this client does not know. Reads must then follow a write through a quorum. */
  get isBlind(): boolean {
    return this.#key !== undefined && this.#trustedZxid() === 0n;
  }

  /** Records the start of a connection attempt. */
  begin(): void {
    if (this.#timeoutMs === 0) this.#begunAt = this.#clock.now();
  }

  /** Returns the first message of the client on a new connection. */
  hello(): Hello {
    const session = this.#key && sessionOf(this.#key);
    return { lastZxid: this.#trustedZxid(), timeoutMs: this.#ttlMs, session };
  }

  welcome(key: SessionKey, timeoutMs: number): void {
    this.#key = key;
    this.#timeoutMs = timeoutMs;
    this.#lostAt = undefined;
  }

  /** Records that the connection broke, and the last transaction that it showed to this client. */
  lost(lastZxid: bigint, at: number): void {
    this.#lastZxid = lastZxid;
    this.#lostAt = at;
  }

  /**
   * Returns the id of the last transaction for the first message of a connection. A server that does not have that transaction closes the connection.
   * Two session timeouts after a break, returns 0 instead, so that any server responds, even if only to report that the session has ended.
   */
  #trustedZxid(): bigint {
    const isLong =
      this.#lostAt !== undefined && this.#clock.now() - this.#lostAt > TRUSTED_FOR * this.#timeoutMs;
    return isLong ? 0n : this.#lastZxid;
  }
}
