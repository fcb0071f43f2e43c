import type { Board } from './board.ts';
import type { BackendHarness } from './harness.ts';
import type { Referee } from './referee.ts';

/** The objects that all clients, contenders and observers in the check of one fact share. */
export interface Fixture {
  readonly harness: BackendHarness;
  /** The queue that the fact uses. */
  readonly queue: string;
  readonly board: Board;
  readonly referee: Referee;
  /** Returns the time of the harness's clock in milliseconds. */
  readonly now: () => number;
}
