import { invalidArgument } from '../api/errors.ts';
import type { LockClientOptions } from '../api/options.ts';
import type { Backend } from '../api/spi.ts';

const MIN_BLOCKED_MS = 1_000;
const MAX_BLOCKED_MS = 3_600_000;

/**
 * Checks the option `maxBlockedMs`: its range, and whether the backend can send heartbeats from another
 * thread.
 */
export function checkMaxBlocked(
  { info, renewers }: Pick<Backend, 'info' | 'renewers'>,
  { maxBlockedMs = 0, clock }: Pick<LockClientOptions, 'maxBlockedMs' | 'clock'>,
): void {
  if (maxBlockedMs === 0) return;
  if (!(maxBlockedMs >= MIN_BLOCKED_MS && maxBlockedMs <= MAX_BLOCKED_MS))
    throw invalidArgument(
      'maxBlockedMs',
      maxBlockedMs,
      'is 0, or a number of milliseconds from 1000 to 3600000',
    );
  if (clock)
    throw invalidArgument(
      'maxBlockedMs',
      maxBlockedMs,
      'is 0 beside the option clock, which a thread cannot read',
    );
  if (!renewers) {
    const why = info.mainThreadRule ?? 'only the main thread sends its heartbeats';
    const rule = `is 0 on ${info.name}: ${why}`;
    throw invalidArgument('maxBlockedMs', maxBlockedMs, rule);
  }
  renewers.check();
}
