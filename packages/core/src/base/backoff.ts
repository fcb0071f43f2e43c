import type { Clock } from './clock.ts';

/** By how much a pause is cut short at most. */
const MAX_JITTER = 0.2;

/** Where the chance comes from: a clock, or nothing for `Math.random`. */
export type RandomSource = Pick<Clock, 'random'>;

/**
 * A pause cut short by up to a fifth, at random, so that clients which met the same trouble in the same moment do not act in step for
 * ever after. Never longer than asked for: a beat that must not be late can take it.
 */
export function withJitter(ms: number, source: RandomSource = {}): number {
  return ms * (1 - MAX_JITTER * (source.random?.() ?? Math.random()));
}

/** How pauses grow, in milliseconds. */
export interface BackoffOptions {
  readonly initialDelayMs: number;
  /** No pause is longer. */
  readonly maxDelayMs: number;
}

/** The pause after the trouble of that number, from 0: twice the one before, up to the most, each cut short as `withJitter` says. */
export function backoffDelay(
  attempt: number,
  { initialDelayMs, maxDelayMs }: BackoffOptions,
  source: RandomSource = {},
): number {
  return withJitter(Math.min(maxDelayMs, initialDelayMs * 2 ** attempt), source);
}
