/**
 * Protocol of all participants, in any language:
 *
 *     participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]
 *
 * A participant connects, reports `ready`, and begins when it reads a line. It enters the queue NAME this many times (0: until the
 * end of standard input) and holds for HOLD_MS each time (negative: until it reads a line). It ends after the round in which its
 * input ends. Observers (RECIPE `observe…`) report `observing` and the leaders until then.
 */
export interface InteropEvent {
  /** Nanoseconds of CLOCK_MONOTONIC, the same for all processes of the machine, as a decimal string. */
  readonly t: string;
  readonly id: string;
  readonly ev: Said | 'killed' | 'frozen' | 'thawed';
  /** Number of the round, from 1; 0 outside of rounds. */
  readonly n: number;
  /** With `acquired`: the server's order (create revision, sequence number). */
  readonly order?: string;
  /** With `acquired`: the age of the entry, also after the order restarted (create revision, creation zxid). */
  readonly token?: string;
  /** With `acquired`: the key or node. */
  readonly key?: string;
  /** With `leader`: the value that the leader published. */
  readonly value?: string;
  /** Message, with `failed`. */
  readonly message?: string;
}

/** Events of a participant; all others are of the harness, `killed` and `frozen` with a stamp from before the signal. */
type Said =
  | 'ready'
  | 'requesting'
  /** From `t` on it believes that it holds: the stamp is from after the recipe reported the grant. */
  | 'acquired'
  /** Until `t` it believed that it holds: the stamp is from before the release was requested. */
  | 'releasing'
  | 'released'
  /** It was notified of the loss. */
  | 'lost'
  /** It was not the first in the queue, and left without waiting. */
  | 'left'
  | 'failed'
  | 'done'
  | 'observing'
  | 'leader';

/** All events of one queue, in any order. */
export type History = readonly InteropEvent[];
