import type { Clock } from './clock.ts';

/** Largest fraction of a delay by which jitter shortens it. */
const MAX_JITTER = 0.2;

/** The method `random` of a clock, which returns random numbers from 0 to 1. Default `Math.random`. */
export type RandomSource = Pick<Clock, 'random'>;

/**
 * Shortens a delay at random by up to 20 %, so that clients that failed at the same moment do not retry in step. Never lengthens it, so a heartbeat
 * that must not be late can use it.
 */
export function withJitter(ms: number, source: RandomSource = {}): number {
  return ms * (1 - MAX_JITTER * (source.random?.() ?? Math.random()));
}

/** Parameters of an exponential backoff, in milliseconds. */
export interface BackoffOptions {
  readonly initialDelayMs: number;
  /** Maximum delay in milliseconds, before jitter. */
  readonly maxDelayMs: number;
}

/** Returns the delay before retry `attempt` (zero-based), with jitter. Each delay is twice the one before, up to the maximum. */
export function backoffDelay(
  attempt: number,
  { initialDelayMs, maxDelayMs }: BackoffOptions,
  source: RandomSource = {},
): number {
  return withJitter(Math.min(maxDelayMs, initialDelayMs * 2 ** attempt), source);
}
