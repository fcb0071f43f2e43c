import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';

/** How a client ends with its application. The grace period of the process manager must be longer than the sum. */
export interface ShutdownOptions {
  /**
   * How long requests in progress may wait and work undisturbed from the beginning of the shutdown, in milliseconds. Default 5,000. The client
   * closes earlier when the HTTP server has closed.
   */
  readonly undisturbedMs?: number;
  /**
   * How long running work may then take to end, in milliseconds; see `LockClient.close`. Works of `@Leads` and `@OncePer` get their `stop` at the
   * beginning of the shutdown, and have this time from there. Default 10,000.
   */
  readonly drainMs?: number;
}

const SHUTDOWN: KnownOptions<ShutdownOptions> = { undisturbedMs: 'number', drainMs: 'number' };
/** A timer of Node fires at once for a longer delay. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Returns the times with their defaults.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a time that no timer can wait
 */
export function checkedShutdown(options: ShutdownOptions | undefined): Required<ShutdownOptions> {
  const checked = checkedOptions('shutdown', options, SHUTDOWN);
  const times = { undisturbedMs: checked.undisturbedMs ?? 5_000, drainMs: checked.drainMs ?? 10_000 };
  for (const [name, ms] of Object.entries(times))
    if (!(ms >= 0 && ms <= MAX_TIMER_MS))
      throw invalidArgument(name, ms, `is a number of milliseconds from 0 to ${MAX_TIMER_MS}`);
  return times;
}
