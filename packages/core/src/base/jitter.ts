import type { Clock } from './clock.ts';

/** By how much a pause is cut short at most. */
const SPREAD = 0.2;

/** Where the chance comes from: a clock, or nothing for `Math.random`. */
export type Chance = Pick<Clock, 'random'>;

/**
 * A pause cut short by up to a fifth, at random, so that clients which met the same trouble in the same moment do not act in step for
 * ever after. Never longer than asked for: a beat that must not be late can take it.
 */
export function sooner(ms: number, chance: Chance = {}): number {
  return ms * (1 - SPREAD * (chance.random?.() ?? Math.random()));
}

/** How pauses grow, in milliseconds. */
export interface Growth {
  readonly firstMs: number;
  /** No pause is longer. */
  readonly mostMs: number;
}

/** The pause after the trouble of that number, from 0: twice the one before, up to the most, each cut short as `sooner` says. */
export function pauseAfter(trouble: number, { firstMs, mostMs }: Growth, chance: Chance = {}): number {
  return sooner(Math.min(mostMs, firstMs * 2 ** trouble), chance);
}
