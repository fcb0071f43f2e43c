import { AsyncLocalStorage } from 'node:async_hooks';
import type { Ownership } from '../api/hold-api.ts';

/** A hold within which a call chain runs. */
export interface ChainHold {
  /** Identifies the client that holds. */
  readonly by: object;
  readonly ownership: Ownership;
  /** Number of permits that the hold takes. */
  readonly permits: number;
}

/**
 * One level of a call chain. Timers and connections that the work has started reference their level as long as they live, which may be years. A level
 * therefore drops its hold when that has ended, and drops ended levels around it.
 */
interface Level {
  hold: ChainHold | undefined;
  outer: Level | undefined;
}

// All clients share one storage, because each `AsyncLocalStorage` that was ever used slows down every promise of the process.
const levels = new AsyncLocalStorage<Level>();

/**
 * Runs `work` in a call chain that has this hold. Everything that `work` starts has it too, until the hold has ended. The hold of an `acquire` does
 * not count, because any code may release it.
 */
export async function runWithin<T>(hold: ChainHold, work: () => T | PromiseLike<T>): Promise<Awaited<T>> {
  const level: Level = { hold, outer: levels.getStore() };
  try {
    return await levels.run(level, work);
  } finally {
    level.hold = undefined;
    heldWithin(level);
  }
}

/** Returns the holds of the running call chain, the innermost first. */
export function heldByThisChain(): readonly ChainHold[] {
  const level = levels.getStore();
  return level ? heldWithin(level) : NOTHING;
}

const NOTHING: readonly ChainHold[] = [];

/** Returns the holds of this level and of all levels around it. Removes ended levels from the chain. */
function heldWithin(innermost: Level | undefined): readonly ChainHold[] {
  const held: ChainHold[] = [];
  for (let level = innermost; level; level = level.outer) {
    while (level.outer && !level.outer.hold) level.outer = level.outer.outer;
    if (level.hold) held.push(level.hold);
  }
  return held;
}
