import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from './chance.ts';

/** Faults that occur in lanes beside each other. In each lane one fault follows another. */
export interface FaultLanes<F, S> {
  readonly chance: Chance;
  /**
   * The faults in the order in which they begin. The lanes share them, so each is made once. A fault that
   * fails ends them for all lanes.
   */
  readonly faults: Generator<F>;
  /** The targets of the faults. Each has at most one fault at a time. */
  readonly subjects: readonly S[];
  /** Number of lanes, at most the number of subjects. */
  readonly lanes: number;
  /** Time in milliseconds before each fault of a lane. */
  readonly restMs: number;
  /** Makes a fault. Resolves when the fault is over. */
  readonly strike: (fault: F, subject: S) => Promise<void>;
}

/** Makes all faults, each on a random subject that has no fault. Resolves when all of them are over. */
export async function strikeInLanes<F, S>(all: FaultLanes<F, S>): Promise<void> {
  const { chance, faults, subjects, lanes, restMs, strike } = all;
  const untouched = new Set(subjects);
  const strikeInTurn = async (): Promise<void> => {
    for (const fault of faults) {
      await pause(restMs);
      const subject = [...untouched][chance.wholeBelow(untouched.size)]!;
      untouched.delete(subject);
      await strike(fault, subject);
      untouched.add(subject);
    }
  };
  await Promise.all(Array.from({ length: lanes }, strikeInTurn));
}

/** Yields all items in random order, and then again in another order until `isOver` returns true. */
export function* dealt<T>(chance: Chance, items: readonly T[], isOver: () => boolean): Generator<T> {
  yield* chance.shuffled(items);
  while (!isOver()) for (const item of chance.shuffled(items)) if (!isOver()) yield item;
}
