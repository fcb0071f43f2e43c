import { randomBytes } from 'node:crypto';
import type { Backend, EntrySpec, Placement, Session, Turn } from '@queuelock/core/backend';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { until } from '@queuelock/harness/services/until';

/** Returns the name of a queue that no other test uses. */
export function freshQueue(): string {
  return `q-${randomBytes(6).toString('hex')}`;
}

/** Returns the spec of an entry: exclusive with a limit of 1 by default. */
export function newSpec(queue: string, more: Partial<EntrySpec> = {}): EntrySpec {
  return { queue, id: randomBytes(16).toString('hex'), shared: false, limit: 1, ...more };
}

/** Waits until the condition is true, at most 15 s. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const check = async (): Promise<void> => {
    if (!(await holds())) throw new Error('not yet');
  };
  await until(check, { what, withinMs: 15_000 });
}

/** Resolves with the code of the error that the promise rejects with; `undefined` when it resolves. */
export async function codeOf(promise: Promise<unknown> | undefined): Promise<unknown> {
  const failure: unknown = await promise?.then(
    () => undefined,
    (error: unknown) => error,
  );
  return (failure as { code?: unknown } | undefined)?.code;
}

/** Records the turns that an entry receives. */
export class TurnLog {
  readonly key: string;
  turn: Turn | undefined;
  /** Whether the entry was admitted at least once so far. */
  wasAdmitted = false;
  error: unknown;
  readonly #subscription: { unsubscribe(): void };

  constructor(placement: Placement) {
    this.key = placement.key;
    this.#subscription = placement.turns$.subscribe({
      next: (turn) => {
        this.turn = turn;
        this.wasAdmitted ||= turn.admitted;
      },
      error: (error: unknown) => {
        this.error = error;
      },
    });
  }

  async untilAdmitted(): Promise<void> {
    await eventually('the entry is admitted', () => {
      if (this.error instanceof Error) throw this.error;
      return this.turn?.admitted === true;
    });
  }

  async untilLost(): Promise<unknown> {
    await eventually('the turns end', () => this.error !== undefined);
    return this.error;
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}

// The request timeout and the TTL in milliseconds, so long that neither is reached in a test.
const [LONG_TIMEOUT_MS, LIFETIME_MS] = [10_000, 60_000];

/** Creates the backends and sessions of a test. `close` closes all of them. */
export class Clients {
  readonly #backends: Backend[] = [];
  readonly #sessions: Session[] = [];
  readonly #logs: TurnLog[] = [];

  backend(options: EtcdOptions): Backend {
    const backend = etcd({ requestTimeoutMs: LONG_TIMEOUT_MS, ...etcdTransport(), ...options });
    this.#backends.push(backend);
    return backend;
  }

  async session(options: EtcdOptions, ttlMs = LIFETIME_MS): Promise<Session> {
    const session = await this.backend(options).open(ttlMs, new AbortController().signal);
    this.#sessions.push(session);
    return session;
  }

  follow(placement: Placement): TurnLog {
    const log = new TurnLog(placement);
    this.#logs.push(log);
    return log;
  }

  async close(): Promise<void> {
    for (const log of this.#logs.splice(0)) log.stop();
    await Promise.all(this.#sessions.splice(0).map((session) => session.close()));
    await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
  }
}
