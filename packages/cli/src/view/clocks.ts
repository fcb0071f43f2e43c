import type { Finding, QueueState } from '@queuelock/core';
import { duration } from './text.ts';

// Tolerated difference of clocks in milliseconds. Clocks that NTP synchronizes differ by less.
const TOLERATED_MS = 1_000;

/**
 * Finds machines whose clock is ahead: their clients report that they joined in the future. The local clock
 * may be the wrong one instead. A clock that is behind is not found, because it looks like a long wait.
 */
export function clocksAhead(queues: readonly QueueState[], now: number): readonly Finding[] {
  const ahead = new Map<string, number>();
  for (const { host = 'a host without a name', since } of queues.flatMap(({ entries }) => entries)) {
    const byMs = (since ?? now) - now;
    if (byMs > TOLERATED_MS) ahead.set(host, Math.max(byMs, ahead.get(host) ?? 0));
  }
  return [...ahead].map(([host, byMs]): Finding => {
    const text = `its clock is at least ${duration(byMs)} ahead of the local one: locks do not depend on the time of day, but the shown ages do; synchronize both with NTP`;
    return { level: 'warning', about: `host ${host}`, text };
  });
}
