import type { Board } from './board.ts';
import type { BackendHarness } from './harness.ts';
import type { Referee } from './referee.ts';

/** The objects that the clients, contenders and watches of one fact share. */
export interface Fixture {
  readonly harness: BackendHarness;
  /** The queue of the fact. */
  readonly queue: string;
  readonly board: Board;
  readonly referee: Referee;
  /** Returns the time in milliseconds. */
  readonly now: () => number;
}
