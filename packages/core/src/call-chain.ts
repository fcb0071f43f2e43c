import { AsyncLocalStorage } from 'node:async_hooks';
import type { Ownership } from './hold-api.ts';

/** A hold within which a call chain runs. */
export interface ChainHold {
  /** Whose client it is of. */
  readonly by: object;
  readonly ownership: Ownership;
  readonly outer: ChainHold | undefined;
  active: boolean;
}

// One for all clients: every promise of the process pays for each storage that was ever used, for ever.
const holds = new AsyncLocalStorage<ChainHold>();

/**
 * Runs `work` as a call chain that has this hold, also for what it starts, until it has ended. A handle from `acquire` may be
 * released from anywhere, so it proves nothing and is not counted.
 */
export async function runWithin<T>(
  by: object,
  ownership: Ownership,
  work: () => T | PromiseLike<T>,
): Promise<Awaited<T>> {
  const hold: ChainHold = { by, ownership, outer: holds.getStore(), active: true };
  try {
    return await holds.run(hold, work);
  } finally {
    hold.active = false;
  }
}

/** What the running call chain holds, the innermost first. */
export function heldByThisChain(): readonly ChainHold[] {
  const held: ChainHold[] = [];
  for (let hold = holds.getStore(); hold; hold = hold.outer) if (hold.active) held.push(hold);
  return held;
}
