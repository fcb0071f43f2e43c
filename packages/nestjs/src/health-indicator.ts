import type { HealthProblem, HealthResult, HealthState } from '@queuelock/recipes';
import type { LockRuntime } from './lock-runtime.ts';
import { DEFAULT_CLIENT } from './tokens.ts';

/** The details that Terminus shows for a lock client. */
export interface LockHealthDetails {
  readonly status: 'up' | 'down';
  readonly session: HealthState['session'];
  readonly problems: readonly HealthProblem[];
}

/**
 * Reports the health of the lock clients to the checks of `@nestjs/terminus`. The function `healthOf` of
 * `@queuelock/recipes` defines when a process is live or ready.
 * @example
 * \@Get('readyz')
 * \@HealthCheck()
 * readiness() {
 *   return this.health.check([() => this.locks.readiness('locks')]);
 * }
 */
export class QueuelockHealthIndicator {
  readonly #runtime: LockRuntime;

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
  }

  /**
   * Reports `down` while the process should get no requests: it has no proven session, or it is shutting
   * down.
   * @param key the key under which Terminus shows the result
   * @param client the name of the lock client. Default `default`
   * @throws {QueueLockError} `INVALID_ARGUMENT` when no client has that name
   */
  readiness<Key extends string>(key: Key, client: string = DEFAULT_CLIENT): Record<Key, LockHealthDetails> {
    const state = this.#runtime.health(client).now();
    return shown(key, state, state.ready);
  }

  /**
   * Reports `down` while the work of a leader is overdue with its call of `checkIn`. Its parameters and
   * errors are those of `readiness`.
   */
  liveness<Key extends string>(key: Key, client: string = DEFAULT_CLIENT): Record<Key, LockHealthDetails> {
    const state = this.#runtime.health(client).now();
    return shown(key, state, state.live);
  }
}

function shown<Key extends string>(
  key: Key,
  { session }: HealthState,
  { ok, problems }: HealthResult,
): Record<Key, LockHealthDetails> {
  return { [key]: { status: ok ? 'up' : 'down', session, problems } } as Record<Key, LockHealthDetails>;
}
