import type { Worker } from 'node:worker_threads';
import { detailOf, type QueueLockError } from '../api/errors.ts';
import type { RenewerSource } from '../api/renewer-api.ts';
import type { Session } from '../api/spi.ts';
import type { Clock } from '../base/clock.ts';
import type { Pace } from './budget.ts';
import type { HeartbeatThreadData, HeartbeatThreadFailure } from './heartbeat-thread.ts';
import type { OtherProofs } from './liveness.ts';
import { sendFirstResults, serveCall, type CallOfThread, type ResultOfCall } from './main-calls.ts';
import { threadFailure } from './thread-failure.ts';
import { startThread } from './start-thread.ts';
import { ThreadTimes, sampleOf } from './thread-times.ts';

/** Options of the heartbeat threads of a client. */
export interface StandbyOptions {
  /** Returns the URL and the data from which the thread creates the renewer of a session. */
  readonly sourceFor: (session: Session) => RenewerSource;
  readonly clock: Clock;
  /** How long the event loop of the main thread may be blocked, in milliseconds. */
  readonly maxBlockedMs: number;
  /** Called with each failure of the thread. The session continues without the thread. */
  readonly onFailure: (error: QueueLockError) => void;
}

/** Data of a session that was just opened. */
export interface StandbyStart {
  readonly pace: Pace;
  readonly openedAt: number;
  /** Deadline until which the store's response to the opening proves the session. */
  readonly deadline: number;
}

/** Starts the heartbeat thread of a session. Returns `undefined` if it cannot start, as in a process that may not start threads. */
export type StandbyStarter = (session: Session, start: StandbyStart) => Standby | undefined;

/** Returns a function that starts heartbeat threads. It reports a failed start to `options.onFailure`. */
export function standbyStarter(options: StandbyOptions): StandbyStarter {
  return (session, start) => {
    try {
      return new Standby(session, options, start);
    } catch (error) {
      options.onFailure(threadFailure(detailOf(error)));
      return undefined;
    }
  };
}

// The main thread checks in (records that its event loop runs) this many times within the longest allowed block of that loop.
const CHECK_INS = 10;

/**
 * A thread that sends heartbeats while the event loop of the main thread is blocked. The main thread checks in regularly while its loop runs. If it
 * has not checked in for longer than `maxBlockedMs`, the heartbeat thread stops, and the session ends at its last proven deadline.
 */
export class Standby implements OtherProofs {
  readonly #times = new ThreadTimes();
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #cancelCheckIn: () => void = () => undefined;

  /** Starts the heartbeat thread of the session. */
  constructor(
    session: Session,
    { sourceFor, clock, maxBlockedMs, onFailure }: StandbyOptions,
    { pace, openedAt, deadline }: StandbyStart,
  ) {
    this.#clock = clock;
    this.#times.noteProof(openedAt, deadline);
    const checkInMs = Math.min(pace.heartbeatIntervalMs, maxBlockedMs / CHECK_INS);
    this.#checkInEvery(checkInMs);
    const { functions, ...source } = sourceFor(session);
    const workerData: HeartbeatThreadData = {
      source,
      functionNames: Object.keys(functions),
      memory: this.#times.memory,
      clock: sampleOf(clock),
      pace: { ...pace, checkInMs, maxSilenceMs: maxBlockedMs + checkInMs, rehearsalMs: session.ttlMs },
    };
    this.#worker = startThread(workerData);
    const post = (result: ResultOfCall): void => this.#worker.postMessage(result);
    // The heartbeat thread alone must not keep the process alive.
    this.#worker.unref();
    this.#worker.on('message', (message: HeartbeatThreadFailure | CallOfThread) => {
      if ('failure' in message) onFailure(threadFailure(message.failure));
      else void serveCall(message, functions, post);
    });
    sendFirstResults(functions, post);
    this.#worker.on('error', (error) => onFailure(threadFailure(`it ended: ${detailOf(error)}`)));
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        resolve();
      });
    });
  }

  /** The deadline that heartbeats of the thread prove; 0 if they prove none. */
  get deadline(): number {
    return this.#times.threadDeadline;
  }

  /** Whether the thread has found that the session has ended on the server. */
  get isLost(): boolean {
    return this.#times.isLost;
  }

  /** Records a confirmed heartbeat of the main thread. */
  noteProof(deadline: number): void {
    this.#times.noteProof(this.#clock.now(), deadline);
  }

  /**
   * Stops the heartbeats of the thread: it starts none after this call. Resolves when the thread has exited, so that none is in flight any more. The
   * exit waits for calls in the thread pool, such as `getaddrinfo`.
   */
  stop(): Promise<void> {
    this.#times.end();
    this.#cancelCheckIn();
    void this.#worker.terminate();
    return this.#exited;
  }

  #checkInEvery(ms: number): void {
    this.#times.checkIn(this.#clock.now());
    this.#cancelCheckIn = this.#clock.after(ms, () => {
      this.#checkInEvery(ms);
    });
  }
}
