import type { CommandLine } from '../../../integration/interop/programs.ts';
import type { Cell, StoreName } from './cells.ts';

/** A measured program: a lock library, or raw calls to the store. */
export interface Client {
  /** Name of the client in the tables, for instance `Go concurrency.Mutex`. */
  readonly name: string;
  readonly store: StoreName;
  readonly kind: 'ours' | 'peer' | 'floor';
  /** Transport of the client. The tables compare a lock with the lower bound of the same transport. */
  readonly transport: string;
  /**
   * Returns the command that runs the program, and builds the program if needed. Rejects with `NotHere` if a
   * tool is missing; the error names what to install.
   */
  readonly command: () => Promise<CommandLine>;
  /**
   * Returns the command-line arguments of the program for a cell: the scenario and its parameters, without
   * the argument `name=`, which the caller appends. Returns `undefined` for a scenario that the program does
   * not support.
   */
  readonly words: (cell: Cell, pace: Pace) => readonly string[] | undefined;
}

/** Durations and repetitions of the benchmark's scenarios. */
export interface Pace {
  /** Duration of a measurement in milliseconds, in which cycles of acquisition and release are counted. */
  readonly ms: number;
  /**
   * Least number of warm-up cycles of each loop. Programs with a just-in-time compiler run at least 3,000 in
   * total.
   */
  readonly warm: number;
  /** Number of holds of each client in `fresh`, where clients enter the queue anew for each hold. */
  readonly rounds: number;
}

/**
 * Returns the function `words` of a client that measures a lock: it returns the command-line arguments for a
 * cell. It returns `undefined` for hand-offs among more than `mostWaiters` waiters, which are not measured.
 */
export function lockWords(mostWaiters: number): Client['words'] {
  return ({ scenario, size, noise }, { ms, warm, rounds }) => {
    if (scenario === 'free' || scenario === 'many')
      return ['free', `locks=${size}`, `ms=${ms}`, `warm=${warm}`];
    // Other libraries need a session for each waiter, so all their hand-offs are between sessions. For them
    // the scenarios `drain` and `sessions` are the same.
    if (scenario === 'drain' || scenario === 'sessions')
      return size <= mostWaiters ? ['drain', `n=${size}`] : undefined;
    if (scenario === 'fresh')
      return ['fresh', `clients=${size}`, 'hold=5', `rounds=${rounds}`, `noise=${noise ? 1 : 0}`];
    return undefined;
  };
}

/**
 * Returns the function `words` of a client that measures a lower bound with raw calls: requests to the store
 * without a lock library. `acquire` names the raw call that the scenario `call` measures. `cycle` names the
 * raw calls that replace the acquisition and release of a lock.
 */
export function floorWords(acquire: string, cycle: string): Client['words'] {
  return ({ scenario, size }, { ms, warm }) => {
    const loops = [`inflight=${size}`, `ms=${ms}`, `warm=${warm}`];
    if (scenario === 'call') return ['floor', `what=${acquire}`, ...loops];
    if (scenario === 'free' || scenario === 'many') return ['floor', `what=${cycle}`, ...loops];
    return scenario === 'drain' || scenario === 'sessions' ? ['chain', `n=${size}`] : undefined;
  };
}
