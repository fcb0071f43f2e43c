import type { LockClientOptions } from '../api/options.ts';
import type { BackendInfo } from '../api/spi.ts';

/** The timing of one session; all values in milliseconds. */
export interface Pace {
  /** Interval between two heartbeats. */
  readonly heartbeatIntervalMs: number;
  /** How long the client waits for the response to a heartbeat before it sends another one. */
  readonly responseTimeoutMs: number;
  /** Delay after the first of several failed heartbeats, before the next attempt. */
  readonly retryAfterMs: number;
  /** Longest delay between failed heartbeats. Used after several failures in a row, so that clients do not overload a store without a leader. */
  readonly longestRetryMs: number;
  /** Safety margin for delays in this process, such as late timers. */
  readonly safetyMarginMs: number;
}

// Assumed maximum difference between the rates of two clocks. NTP corrects by at most 0.05 %, and a quartz is
// wrong by less than 0.01 %.
const CLOCK_RATE_ERROR = 0.01;

/** Computes the timing of a session. With an interval of a quarter of the TTL, three heartbeats in a row may fail. */
export function paceOf(ttlMs: number, options: LockClientOptions): Pace {
  const retryAfterMs = Math.min(200, ttlMs / 40);
  return {
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? ttlMs / 4,
    responseTimeoutMs: Math.max(300, ttlMs / 8),
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
  // On a store with a `proofLag`, a heartbeat proves the session only from the time at which an earlier one was
  // sent. That is the previous heartbeat, or one before it if the lag is longer than the interval.
  const lagMs = proofLag === 0 ? 0 : Math.max(heartbeatIntervalMs, proofLag * settings.ttlMs);
  return deadlineOf(-lagMs, settings.ttlMs, safetyMarginMs);
}

/**
 * Computes the result of `Session.renew` for stores where a heartbeat only proves that the server counts the TTL from an earlier time. `elapsedMs`
 * have passed since then on this process's clock. Later, `deadlineOf` multiplies the result by `1 - CLOCK_RATE_ERROR`, because the server's clock may
 * run faster. This function divides `elapsedMs` by the same factor, so that the elapsed time is subtracted in full.
 */
export function leftOfTtl(ttlMs: number, elapsedMs: number): number {
  return Math.max(0, ttlMs - elapsedMs / (1 - CLOCK_RATE_ERROR));
}

/**
 * Computes the deadline until which a hold is proven. It counts from the moment at which the heartbeat that proves it was *sent*, because the server
 * cannot have started to count the TTL earlier.
 */
export function deadlineOf(sentAt: number, provenMs: number, safetyMarginMs: number): number {
  return sentAt + provenMs * (1 - CLOCK_RATE_ERROR) - safetyMarginMs;
}

/** Returns the proven time in milliseconds that results in this deadline if it counts from `now`. It is the inverse of `deadlineOf`. */
export function provenUntil(deadline: number, now: number, safetyMarginMs: number): number {
  return Math.max(0, (deadline - now + safetyMarginMs) / (1 - CLOCK_RATE_ERROR));
}
