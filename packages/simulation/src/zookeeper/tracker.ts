import type { Machine } from '../timeline.ts';

/** Who speaks for a session: the member that its client is connected to. */
export type Owner = object;

interface Tracked {
  readonly timeoutMs: number;
  endsAt: number;
  owner: Owner | undefined;
  isClosing: boolean;
}

/** The times of the sessions, as who leads counts them on its own clock: they end with a tick, never before their time. */
export class Tracker {
  readonly #machine: Machine;
  readonly #tickMs: number;
  readonly #sessions = new Map<bigint, Tracked>();

  /** All begin anew with whoever leads. */
  constructor(machine: Machine, tickMs: number, sessions: Iterable<[bigint, number]>) {
    this.#machine = machine;
    this.#tickMs = tickMs;
    for (const [id, timeoutMs] of sessions) this.track(id, timeoutMs, undefined);
  }

  track(id: bigint, timeoutMs: number, owner: Owner | undefined): void {
    this.#sessions.set(id, { timeoutMs, owner, endsAt: this.#endsAt(timeoutMs), isClosing: false });
  }

  /** `false` for one that is over. */
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

  /** Whether that one may speak for it. */
  check(id: bigint, owner: Owner): 'right' | 'expired' | 'moved' {
    const session = this.#sessions.get(id);
    if (!session || session.isClosing) return 'expired';
    session.owner ??= owner;
    return session.owner === owner ? 'right' : 'moved';
  }

  /** Nothing is taken from it any more. */
  close(id: bigint): void {
    const session = this.#sessions.get(id);
    if (session) session.isClosing = true;
  }

  remove(id: bigint): void {
    this.#sessions.delete(id);
  }

  /** Those whose time is over. */
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
