/**
 * Protocol of all participants, in any language:
 *
 *     participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]
 *
 * A participant connects, reports `ready`, and begins when it reads a line. It enters the queue NAME in
 * ROUNDS rounds (0: until the end of standard input), and holds for HOLD_MS each time (negative: until it
 * reads a line). It ends after the round in which its input ends. Observers (RECIPE `observe…`) report
 * `observing`, and then the leaders until their input ends.
 */
export interface InteropEvent {
  /** Nanoseconds of CLOCK_MONOTONIC, the same for all processes of the machine, as a decimal string. */
  readonly t: string;
  readonly id: string;
  readonly ev: Said | 'killed' | 'frozen' | 'thawed';
  /** Number of the round, from 1. It is 0 outside of rounds. */
  readonly n: number;
  /** With `acquired`: the server's order (create revision, sequence number). */
  readonly order?: string;
  /**
   * With `acquired`: the age of the entry (create revision, creation zxid). Unlike `order`, it also grows
   * after the order has restarted.
   */
  readonly token?: string;
  /** With `acquired`: the key or node. */
  readonly key?: string;
  /** With `leader`: the value that the leader published. */
  readonly value?: string;
  /** Error message. Present with `failed`. */
  readonly message?: string;
}

/**
 * The events that a participant reports. All others come from the harness: `killed` and `frozen` have a stamp
 * from before the signal.
 */
type Said =
  | 'ready'
  | 'requesting'
  /**
   * The participant believes that it holds, from `t` on. The stamp is from after the recipe reported the
   * grant.
   */
  | 'acquired'
  /** The participant believed until `t` that it holds. The stamp is from before it requested the release. */
  | 'releasing'
  | 'released'
  /** The participant was notified of the loss of its hold. */
  | 'lost'
  /** The participant was not the first in the queue, and left without waiting. */
  | 'left'
  | 'failed'
  | 'done'
  | 'observing'
  | 'leader';

/** All events of one queue, in any order. */
export type History = readonly InteropEvent[];
