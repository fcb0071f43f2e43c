import { AsyncLocalStorage } from 'node:async_hooks';
import type { Ownership } from '../api/hold-api.ts';

/** A hold that a call chain has: its code runs inside `run` of that lock. */
export interface ChainHold {
  /** The client that has the hold. It is only compared with other clients by identity. */
  readonly by: object;
  readonly ownership: Ownership;
  /** Number of permits that the hold takes. */
  readonly permits: number;
}

/**
 * One level of a call chain: a hold, inside the levels that the chain entered before. Timers and connections that the work has started reference
 * their level as long as they exist, which may be years. So a level drops its hold when the hold has ended, and drops ended levels around it.
 */
interface Level {
  hold: ChainHold | undefined;
  outer: Level | undefined;
}

// One storage serves all clients. On Node 20 and 22, every promise of the process calls a hook while an `AsyncLocalStorage` is in use,
// which doubles the function calls of a lock. So the storage is in use only while a call chain has a hold.
const levels = new AsyncLocalStorage<Level>();
let openLevels = 0;

/**
 * Runs `work` in a call chain that has this hold. Everything that `work` starts runs in the same call chain, until the hold has ended. The hold of an
 * `acquire` belongs to no call chain, because any code may release it.
 */
export async function runWithin<T>(hold: ChainHold, work: () => T | PromiseLike<T>): Promise<Awaited<T>> {
  const level: Level = { hold, outer: levels.getStore() };
  openLevels += 1;
  try {
    return await levels.run(level, work);
  } finally {
    level.hold = undefined;
    heldWithin(level);
    openLevels -= 1;
    if (openLevels === 0) levels.disable();
  }
}

/** Returns the holds of the running call chain, the innermost first. */
export function heldByThisChain(): readonly ChainHold[] {
  const level = openLevels > 0 ? levels.getStore() : undefined;
  return level ? heldWithin(level) : NOTHING;
}

const NOTHING: readonly ChainHold[] = [];

/** Returns the holds of this level of a call chain, and of all levels around it. Removes ended levels from the chain. */
function heldWithin(innermost: Level | undefined): readonly ChainHold[] {
  const held: ChainHold[] = [];
  for (let level = innermost; level; level = level.outer) {
    while (level.outer && !level.outer.hold) level.outer = level.outer.outer;
    if (level.hold) held.push(level.hold);
  }
  return held;
}
