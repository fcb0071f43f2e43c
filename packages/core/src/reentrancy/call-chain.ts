import { AsyncLocalStorage } from 'node:async_hooks';
import type { Ownership } from '../api/hold-api.ts';

/** A hold within which a call chain runs. */
export interface ChainHold {
  /** Whose client it is of. */
  readonly by: object;
  readonly ownership: Ownership;
  /** That it takes. */
  readonly permits: number;
}

/**
 * One level of a call chain. Whatever the work has started keeps its level for as long as it lives, a timer or a connection for years;
 * so a level lets go of its hold when that has ended, and no level keeps those that have ended around it.
 */
interface Level {
  hold: ChainHold | undefined;
  outer: Level | undefined;
}

// One for all clients. On Node 20 and 22, every promise of the process calls a hook while a storage is in use, which doubles the function calls of a
// lock. So it is in use only while a level has a hold. Without one, no chain has anything to find in it.
const levels = new AsyncLocalStorage<Level>();
let openLevels = 0;

/**
 * Runs `work` as a call chain that has this hold, also for what it starts, until it has ended. A handle from `acquire` may be
 * released from anywhere, so it proves nothing and is not counted.
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

/** What the running call chain holds, the innermost first. */
export function heldByThisChain(): readonly ChainHold[] {
  const level = openLevels > 0 ? levels.getStore() : undefined;
  return level ? heldWithin(level) : NOTHING;
}

const NOTHING: readonly ChainHold[] = [];

/** Takes the levels that have ended out of the chain on the way. */
function heldWithin(innermost: Level | undefined): readonly ChainHold[] {
  const held: ChainHold[] = [];
  for (let level = innermost; level; level = level.outer) {
    while (level.outer && !level.outer.hold) level.outer = level.outer.outer;
    if (level.hold) held.push(level.hold);
  }
  return held;
}
