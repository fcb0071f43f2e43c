import type { CommandLine } from '../../../integration/interop/programs.ts';
import type { Cell, StoreName } from './cells.ts';

/** Something that is measured: a program that does the scenarios. */
export interface Client {
  /** In the tables: `Go concurrency.Mutex`. */
  readonly name: string;
  readonly store: StoreName;
  readonly kind: 'ours' | 'peer' | 'floor';
  /** What it goes over: a lock is compared with the floor of the same transport. */
  readonly transport: string;
  /** How to run it; builds it if need be. Rejects with NotHere, which says what to install. */
  readonly command: () => Promise<CommandLine>;
  /** The scenario and its parameters for that program, without the name; `undefined` for what it does not do. */
  readonly words: (cell: Cell, pace: Pace) => readonly string[] | undefined;
}

/** How long the parts of a scenario take. */
export interface Pace {
  /** Of a window in which cycles are counted. */
  readonly ms: number;
  /** Cycles of each loop before it, at least: programs that are compiled while they run make 3,000 in all. */
  readonly warm: number;
  /** Holds of each client that comes anew every time. */
  readonly rounds: number;
}

/** What every lock of the protocol does; at most so many waiters. */
export function lockWords(mostWaiters: number): Client['words'] {
  return ({ scenario, size, noise }, { ms, warm, rounds }) => {
    if (scenario === 'free' || scenario === 'many')
      return ['free', `locks=${size}`, `ms=${ms}`, `warm=${warm}`];
    if (scenario === 'drain') return size <= mostWaiters ? ['drain', `n=${size}`] : undefined;
    if (scenario === 'fresh')
      return ['fresh', `clients=${size}`, 'hold=5', `rounds=${rounds}`, `noise=${noise ? 1 : 0}`];
    return undefined;
  };
}

/** What a floor does in place of a lock. */
export function floorWords(acquire: string, cycle: string): Client['words'] {
  return ({ scenario, size }, { ms, warm }) => {
    const loops = [`inflight=${size}`, `ms=${ms}`, `warm=${warm}`];
    if (scenario === 'call') return ['floor', `what=${acquire}`, ...loops];
    if (scenario === 'free' || scenario === 'many') return ['floor', `what=${cycle}`, ...loops];
    return scenario === 'drain' ? ['chain', `n=${size}`] : undefined;
  };
}
