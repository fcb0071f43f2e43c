import type { LockClientOptions } from '../api/options.ts';
import type { BackendInfo } from '../api/spi.ts';

/** The numbers of one session, all in milliseconds. */
export interface Pace {
  /** Between two heartbeats. */
  readonly heartbeatIntervalMs: number;
  /** How long one heartbeat may take before the next is tried. */
  readonly answerTimeoutMs: number;
  /** Between a heartbeat that failed and the next try. */
  readonly retryAfterMs: number;
  /** Kept back for our own lateness. */
  readonly safetyMarginMs: number;
}

// Bound on how differently two clocks may run. NTP slews by at most 0.05 %; a quartz is off by less than 0.01 %.
const CLOCK_RATE_ERROR = 0.01;

/** A quarter of the TTL between beats leaves room for three that fail, on two or three servers. */
export function paceOf(ttlMs: number, options: LockClientOptions): Pace {
  return {
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? ttlMs / 4,
    answerTimeoutMs: Math.max(300, ttlMs / 8),
    retryAfterMs: Math.min(200, ttlMs / 40),
    safetyMarginMs: options.safetyMarginMs ?? Math.max(200, ttlMs / 50),
  };
}

/** How much of a hold the regular heartbeats can prove at best: those that are answered at once. */
export function longestHoldMs(
  settings: { readonly ttlMs: number } & Pick<LockClientOptions, 'safetyMarginMs' | 'heartbeatIntervalMs'>,
  { proofLag = 0 }: Pick<BackendInfo, 'proofLag'>,
): number {
  const { safetyMarginMs, heartbeatIntervalMs } = paceOf(settings.ttlMs, settings);
  // The one before is early enough, or one before that.
  const lagMs = proofLag === 0 ? 0 : Math.max(heartbeatIntervalMs, proofLag * settings.ttlMs);
  return deadlineOf(-lagMs, settings.ttlMs, safetyMarginMs);
}

/**
 * What `Session.renew` returns where the heartbeat proves only that the server has counted since an earlier moment: how much of `ttlMs` is left
 * when `elapsedMs` of this process's clock have passed since then. The server's clock may run faster for all of that time, so the allowance that
 * the core takes from the result must not be taken from the elapsed time as well.
 */
export function leftOfTtl(ttlMs: number, elapsedMs: number): number {
  return Math.max(0, ttlMs - elapsedMs / (1 - CLOCK_RATE_ERROR));
}

/**
 * Until when a hold may be believed in. Counted from the moment the proving call was *sent*: the server cannot have
 * started its own count earlier than that.
 */
export function deadlineOf(sentAt: number, provenMs: number, safetyMarginMs: number): number {
  return sentAt + provenMs * (1 - CLOCK_RATE_ERROR) - safetyMarginMs;
}
