import type { Machine } from '../timeline.ts';

/** An object that represents the member to which the client of a session is connected. */
export type Owner = object;

interface Tracked {
  readonly timeoutMs: number;
  endsAt: number;
  owner: Owner | undefined;
  isClosing: boolean;
}

/**
 * The expiry times of sessions, by the clock of the leader. Sessions expire at a tick of the leader, never
 * before their timeout is over.
 */
export class Tracker {
  readonly #machine: Machine;
  readonly #tickMs: number;
  readonly #sessions = new Map<bigint, Tracked>();

  /** Grants every session its whole timeout again, because another member has become leader. */
  constructor(machine: Machine, tickMs: number, sessions: Iterable<[bigint, number]>) {
    this.#machine = machine;
    this.#tickMs = tickMs;
    for (const [id, timeoutMs] of sessions) this.track(id, timeoutMs, undefined);
  }

  track(id: bigint, timeoutMs: number, owner: Owner | undefined): void {
    this.#sessions.set(id, { timeoutMs, owner, endsAt: this.#endsAt(timeoutMs), isClosing: false });
  }

  /** Renews a session. Returns `false` for a session that has ended. */
  touch(id: bigint): boolean {
    const session = this.#sessions.get(id);
    if (!session || session.isClosing) return false;
    session.endsAt = Math.max(session.endsAt, this.#endsAt(session.timeoutMs));
    return true;
  }

  own(id: bigint, owner: Owner): void {
    const session = this.#sessions.get(id);
    if (session) session.owner = owner;
  }

  /** Returns whether the session is alive and connected to the member `owner`. */
  check(id: bigint, owner: Owner): 'right' | 'expired' | 'moved' {
    const session = this.#sessions.get(id);
    if (!session || session.isClosing) return 'expired';
    session.owner ??= owner;
    return session.owner === owner ? 'right' : 'moved';
  }

  /** Marks a session as closing, so that its later requests are ignored. */
  close(id: bigint): void {
    const session = this.#sessions.get(id);
    if (session) session.isClosing = true;
  }

  remove(id: bigint): void {
    this.#sessions.delete(id);
  }

  /** Ids of the sessions that have expired and that no client is closing. */
  get expired(): readonly bigint[] {
    const now = this.#machine.now();
    return [...this.#sessions].flatMap(([id, { endsAt, isClosing }]) =>
      isClosing || endsAt > now ? [] : [id],
    );
  }

  #endsAt(timeoutMs: number): number {
    return (Math.floor((this.#machine.now() + timeoutMs) / this.#tickMs) + 1) * this.#tickMs;
  }
}
