/**
 * What all participants speak, whatever language they are written in:
 *
 *     participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]
 *
 * Connects, says `ready`, and begins when it reads a line. Enters the line of NAME so many times (0: until there is nothing more
 * on its standard input) and holds for HOLD_MS each time (negative: until it reads a line). Ends after the round in which its input ends.
 * Observers (RECIPE `observe…`) say `observing` and who leads until then.
 */
export interface InteropEvent {
  /** When: nanoseconds of CLOCK_MONOTONIC, the same for all processes of the machine, as a decimal string. */
  readonly t: string;
  readonly id: string;
  readonly ev: Said | 'killed' | 'frozen' | 'thawed';
  /** The round, from 1; 0 outside of rounds. */
  readonly n: number;
  /** With `acquired`: the server's order (create revision, sequence number). */
  readonly order?: string;
  /** With `acquired`: what tells the age of the entry, also after the order began anew (create revision, creation zxid). */
  readonly token?: string;
  /** With `acquired`: the key or node. */
  readonly key?: string;
  /** With `leader`: what the leader published. */
  readonly value?: string;
  /** With `failed`. */
  readonly message?: string;
}

/** What a participant says; the rest is of the harness, `killed` and `frozen` with a stamp from before the signal. */
type Said =
  | 'ready'
  | 'requesting'
  /** From `t` on it believes that it holds: the stamp is from after the recipe said so. */
  | 'acquired'
  /** Until `t` it believed so: the stamp is from before the recipe was asked. */
  | 'releasing'
  | 'released'
  /** It heard of the loss. */
  | 'lost'
  /** It looked, was not the first, and did not wait. */
  | 'left'
  | 'failed'
  | 'done'
  | 'observing'
  | 'leader';

/** All of one queue, in any order. */
export type History = readonly InteropEvent[];
