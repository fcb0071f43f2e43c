import type { Clock } from '@queuelock/core/backend';
import type { SessionKey } from '../driver/driver.ts';
import type { Hello } from './handshake.ts';
import { sessionOf } from './session-key.ts';

/** What is asked for, and what goes on. */
interface Wanted {
  readonly ttlMs: number;
  readonly session?: SessionKey | undefined;
  readonly clock: Clock;
}

// All zeroes, as long as there is none.
const NO_KEY: SessionKey = { client_id: '0', client_password: '0'.repeat(32) };
// Servers that refuse what a session has seen for so long have lost it, say to a backup; in timeouts of the session.
const TRUSTED_FOR = 2;

/** What a client knows of its session, from one connection to the next. */
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

  /** What the server has granted. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** When the attempt that made or resumed the session began. */
  get begunAt(): number {
    return this.#begunAt;
  }

  /** Somebody may have seen more of this session than is known here: what is read comes behind a quorum. */
  get isBlind(): boolean {
    return this.#key !== undefined && this.#trustedZxid() === 0n;
  }

  /** An attempt to connect begins. */
  begin(): void {
    if (this.#timeoutMs === 0) this.#begunAt = this.#clock.now();
  }

  /** What to say first. */
  hello(): Hello {
    const session = this.#key && sessionOf(this.#key);
    return { lastZxid: this.#trustedZxid(), timeoutMs: this.#ttlMs, session };
  }

  welcome(key: SessionKey, timeoutMs: number): void {
    this.#key = key;
    this.#timeoutMs = timeoutMs;
    this.#lostAt = undefined;
  }

  /** The connection broke, over which so much was seen. */
  lost(lastZxid: bigint, at: number): void {
    this.#lastZxid = lastZxid;
    this.#lostAt = at;
  }

  /** A server that is behind this closes the connection; after a while any server may answer, if only to say that it knows no such session. */
  #trustedZxid(): bigint {
    const isLong =
      this.#lostAt !== undefined && this.#clock.now() - this.#lostAt > TRUSTED_FOR * this.#timeoutMs;
    return isLong ? 0n : this.#lastZxid;
  }
}
