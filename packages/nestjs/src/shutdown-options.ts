import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';

/**
 * How a client closes when its application shuts down. The grace period of the process manager must be longer
 * than the sum of `undisturbedMs` and `drainMs`.
 */
export interface ShutdownOptions {
  /**
   * How long requests in progress may wait and work undisturbed from the beginning of the shutdown, in milliseconds. Default 5,000. The client
   * closes earlier when the HTTP server has closed.
   */
  readonly undisturbedMs?: number;
  /**
   * Time that unfinished work has to end after `undisturbedMs` has passed, in milliseconds; see
   * `LockClient.close`. For methods with `@Leads` and `@OncePer` it counts from the beginning of the
   * shutdown, when their `stop` aborts. Default 10,000.
   */
  readonly drainMs?: number;
}

const SHUTDOWN: KnownOptions<ShutdownOptions> = { undisturbedMs: 'number', drainMs: 'number' };
/** The longest delay of a Node timer, in milliseconds. A timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Returns the options, with defaults for absent ones.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a time that is longer than the longest delay of a timer
 */
export function checkedShutdown(options: ShutdownOptions | undefined): Required<ShutdownOptions> {
  const checked = checkedOptions('shutdown', options, SHUTDOWN);
  const times = { undisturbedMs: checked.undisturbedMs ?? 5_000, drainMs: checked.drainMs ?? 10_000 };
  for (const [name, ms] of Object.entries(times))
    if (!(ms >= 0 && ms <= MAX_TIMER_MS))
      throw invalidArgument(name, ms, `is a number of milliseconds from 0 to ${MAX_TIMER_MS}`);
  return times;
}
