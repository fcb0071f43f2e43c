import { setTimeout as pause } from 'node:timers/promises';
import { livedSince } from '../lived-time.ts';

export interface UntilOptions {
  /** Description of the awaited state, for the error: `etcd answers on 127.0.0.1:2379`. */
  readonly what: string;
  /** Time limit in milliseconds, not counting time in which the machine stalled. */
  readonly withinMs: number;
  /**
   * Returns a reason when the awaited state can no longer be reached. The wait then ends at once with an
   * error.
   */
  readonly hopeless?: () => string | undefined | Promise<string | undefined>;
}

/**
 * Calls `request` every 20 ms until it resolves. Rejects with the last error of `request` when the time limit
 * is reached.
 */
export async function until<T>(
  request: () => Promise<T>,
  { what, withinMs, hopeless }: UntilOptions,
): Promise<T> {
  const from = performance.now();
  for (;;) {
    const reason = await hopeless?.();
    if (reason !== undefined) throw new Error(`${what}: ${reason}`);
    try {
      return await request();
    } catch (refusal) {
      if (livedSince(from) > withinMs)
        throw new Error(`${what}: not within ${withinMs} ms`, { cause: refusal });
    }
    await pause(20);
  }
}
