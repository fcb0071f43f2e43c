import type { LockClientOptions } from '../api/options.ts';
import type { BackendInfo } from '../api/spi.ts';

/** The timing of one session; all values in milliseconds. */
export interface Pace {
  /** Interval between two heartbeats. */
  readonly heartbeatIntervalMs: number;
  /** Time limit of one heartbeat before the next is tried. */
  readonly answerTimeoutMs: number;
  /** Delay between the first failed heartbeat and the next attempt. */
  readonly retryAfterMs: number;
  /** Delay between failed heartbeats after several in a row, so that clients do not overload a store without a leader. */
  readonly longestRetryMs: number;
  /** Safety margin for delays in this process. */
  readonly safetyMarginMs: number;
}

// Bound on how differently two clocks may run. NTP slews by at most 0.05 %; a quartz is off by less than 0.01 %.
const CLOCK_RATE_ERROR = 0.01;

/** Computes the timing. An interval of a quarter of the TTL allows three failed heartbeats, on two or three servers. */
export function paceOf(ttlMs: number, options: LockClientOptions): Pace {
  const retryAfterMs = Math.min(200, ttlMs / 40);
  return {
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? ttlMs / 4,
    answerTimeoutMs: Math.max(300, ttlMs / 8),
    retryAfterMs,
    longestRetryMs: 4 * retryAfterMs,
    safetyMarginMs: options.safetyMarginMs ?? Math.max(200, ttlMs / 50),
  };
}

/** Returns the longest remaining time that regular heartbeats can prove, assuming immediate responses. */
export function longestHoldMs(
  settings: { readonly ttlMs: number } & Pick<LockClientOptions, 'safetyMarginMs' | 'heartbeatIntervalMs'>,
  { proofLag = 0 }: Pick<BackendInfo, 'proofLag'>,
): number {
  const { safetyMarginMs, heartbeatIntervalMs } = paceOf(settings.ttlMs, settings);
  // The newest heartbeat proves the send time of an earlier one: the previous, or one before it where the required lag is longer than the
  // interval.
  const lagMs = proofLag === 0 ? 0 : Math.max(heartbeatIntervalMs, proofLag * settings.ttlMs);
  return deadlineOf(-lagMs, settings.ttlMs, safetyMarginMs);
}

/**
 * Computes the result of `Session.renew` where a heartbeat only proves that the server counts the TTL from an earlier time: the rest of `ttlMs` after
 * `elapsedMs` on this process's clock. The server's clock may run faster during the whole time. The allowance that the core subtracts from the result
 * must therefore not be subtracted from the elapsed time as well.
 */
export function leftOfTtl(ttlMs: number, elapsedMs: number): number {
  return Math.max(0, ttlMs - elapsedMs / (1 - CLOCK_RATE_ERROR));
}

/**
 * Computes the deadline until which a hold is proven. Counted from the moment the proving call was *sent*, because the server cannot have started
 * its count earlier.
 */
export function deadlineOf(sentAt: number, provenMs: number, safetyMarginMs: number): number {
  return sentAt + provenMs * (1 - CLOCK_RATE_ERROR) - safetyMarginMs;
}
