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
  /**
   * Number of the participant's round, from 1. A round lasts from joining the queue to leaving it. 0 for an
   * event outside of rounds.
   */
  readonly n: number;
  /**
   * Number by which clients order the entries of the queue: etcd's create revision, ZooKeeper's sequence
   * number. Present in an event `acquired`.
   */
  readonly order?: string;
  /**
   * Number that gives the age of the entry: etcd's create revision, ZooKeeper's zxid of the creation. It
   * still grows when ZooKeeper's sequence numbers start again. Present in an event `acquired`.
   */
  readonly token?: string;
  /** The key or node of the participant's entry. Present in an event `acquired`. */
  readonly key?: string;
  /** The value that the leader published. Present in an event `leader`. */
  readonly value?: string;
  /** Message of the participant's error. Present in an event `failed`. */
  readonly message?: string;
}

/**
 * The events that a participant reports itself. The harness adds the events `killed`, `frozen` and `thawed`.
 * It records `killed` and `frozen` with a time from before the signal.
 */
type Said =
  | 'ready'
  | 'requesting'
  /**
   * The participant believes that it holds from the time `t` on, which is after its library has reported the
   * grant.
   */
  | 'acquired'
  /** The participant believed that it held until the time `t`, which is before it requests the release. */
  | 'releasing'
  | 'released'
  /** The participant was notified of the loss of its hold. */
  | 'lost'
  /** The participant tried to lock without waiting. Other entries were ahead, so it left the queue. */
  | 'left'
  | 'failed'
  | 'done'
  | 'observing'
  | 'leader';

/** All events of the participants in one queue, in any order. */
export type History = readonly InteropEvent[];
