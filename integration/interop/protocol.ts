/**
 * Protocol of all participants, in any language:
 *
 *     participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]
 *
 * A participant connects, reports `ready`, and begins when it reads a line. It enters the queue NAME in
 * ROUNDS rounds; 0 means until the end of standard input. It holds for HOLD_MS each time; a negative number
 * means until it reads a line. When its input ends, it ends after the present round. Observers (RECIPE
 * `observe…`) report `observing`, and then the leaders until their input ends.
 */
export interface InteropEvent {
  /** Nanoseconds of CLOCK_MONOTONIC, the same for all processes of the machine, as a decimal string. */
  readonly t: string;
  readonly id: string;
  readonly ev: Said | 'killed' | 'frozen' | 'thawed';
  /** Number of the round, from 1. It is 0 outside of rounds. */
  readonly n: number;
  /**
   * With `acquired`: number by which clients order the entries of the queue (etcd's create revision,
   * ZooKeeper's sequence number).
   */
  readonly order?: string;
  /**
   * With `acquired`: number that gives the age of the entry (etcd's create revision, ZooKeeper's zxid of the
   * creation). Unlike `order`, it still grows when ZooKeeper's sequence numbers start again.
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
 * The events that a participant reports. The harness adds the others; it records `killed` and `frozen` with a
 * time from before the signal.
 */
type Said =
  | 'ready'
  | 'requesting'
  /**
   * From `t` on, the participant believes that it holds. `t` is a time after its library has reported the
   * grant.
   */
  | 'acquired'
  /** Until `t`, the participant believed that it held. `t` is a time before it requests the release. */
  | 'releasing'
  | 'released'
  /** The participant was notified of the loss of its hold. */
  | 'lost'
  /** The participant only tried to lock. Other entries were ahead, so it left without waiting. */
  | 'left'
  | 'failed'
  | 'done'
  | 'observing'
  | 'leader';

/** All events of one queue, in any order. */
export type History = readonly InteropEvent[];
