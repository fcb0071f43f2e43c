import type { CommandLine } from '../../../integration/interop/programs.ts';
import type { Cell, StoreName } from './cells.ts';

/** A measured program that runs the scenarios. */
export interface Client {
  /** Name in the tables: `Go concurrency.Mutex`. */
  readonly name: string;
  readonly store: StoreName;
  readonly kind: 'ours' | 'peer' | 'floor';
  /** Transport: a lock is compared with the lower bound of the same transport. */
  readonly transport: string;
  /** Returns how to run it, and builds it if needed. Rejects with NotHere, which names what to install. */
  readonly command: () => Promise<CommandLine>;
  /** Returns the scenario and its parameters for the program, without the name; `undefined` for unsupported scenarios. */
  readonly words: (cell: Cell, pace: Pace) => readonly string[] | undefined;
}

/** Durations of the parts of a scenario. */
export interface Pace {
  /** Duration of a window in which cycles are counted. */
  readonly ms: number;
  /** Least number of warm-up cycles of each loop; just-in-time compiled programs run 3,000 in total. */
  readonly warm: number;
  /** Holds of each client that joins again every time. */
  readonly rounds: number;
}

/** Parameters of every lock of the protocol, up to this number of waiters. */
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

/** Parameters of a lower bound, which replaces a lock. */
export function floorWords(acquire: string, cycle: string): Client['words'] {
  return ({ scenario, size }, { ms, warm }) => {
    const loops = [`inflight=${size}`, `ms=${ms}`, `warm=${warm}`];
    if (scenario === 'call') return ['floor', `what=${acquire}`, ...loops];
    if (scenario === 'free' || scenario === 'many') return ['floor', `what=${cycle}`, ...loops];
    return scenario === 'drain' ? ['chain', `n=${size}`] : undefined;
  };
}
