import type { Random } from './random.ts';
import type { Machine, Timeline } from './timeline.ts';

/** The faults between a client and a member. Probabilities are from 0 to 1. */
export interface LinkFaults {
  /**
   * Fault of all messages from the client to the member (`there`), or from the member to the client (`back`).
   * The messages are lost, or (`late`) arrive only when the fault ends.
   */
  readonly there?: 'lost' | 'late';
  readonly back?: 'lost' | 'late';
  /** Probability that a request is lost. */
  readonly requestLost?: number;
  /** Probability that the response to a request is lost. */
  readonly replyLost?: number;
  /** Probability that the member executes a request twice. */
  readonly repeated?: number;
  /** Largest additional delay of a request, in milliseconds. */
  readonly slowMs?: number;
  /** Largest additional delay of a response, in milliseconds. */
  readonly slowResponsesMs?: number;
}

/** Direction of a message: `there` from client to member, `back` from member to client. */
export type Direction = 'there' | 'back';

/** The member to which a link leads, with its machine. */
export interface LinkEnd {
  readonly machine: Machine;
  readonly isUp: boolean;
}

const QUICKEST_MS = 0.3;
const USUAL_MS = 2;

/** Transfers messages between one client and one member. */
export class Link<M extends LinkEnd = LinkEnd> {
  readonly client: Machine;
  readonly member: M;
  readonly #timeline: Timeline;
  readonly #random: Random;
  /** For each call in flight, a function that makes the call fail. */
  readonly #calls = new Set<(reason: string) => void>();
  #failure: LinkFaults = {};
  #troubleUntil = 0;

  constructor(timeline: Timeline, random: Random, ends: { readonly client: Machine; readonly member: M }) {
    this.#timeline = timeline;
    this.#random = random;
    this.client = ends.client;
    this.member = ends.member;
  }

  /** Number of calls that wait for a response. */
  get calls(): number {
    return this.#calls.size;
  }

  problem(failure: LinkFaults, ms: number): void {
    this.#failure = failure;
    this.#troubleUntil = this.#timeline.now() + ms;
  }

  heal(): void {
    this.#troubleUntil = 0;
  }

  /** Cuts the connection. All calls in flight fail, whether they were executed or not. */
  reset(): void {
    for (const fail of [...this.#calls]) this.client.do(() => fail('connection reset by peer'));
  }

  /** Calls `fail` when the connection is cut. Returns a function that removes the callback again. */
  onReset(fail: (reason: string) => void): () => void {
    this.#calls.add(fail);
    return () => this.#calls.delete(fail);
  }

  /**
   * Returns how often the next request arrives at the member: 0 times if it is lost, twice if it is repeated.
   */
  times(): number {
    const { requestLost = 0, repeated = 0 } = this.#now;
    if (this.#random.chance(requestLost)) return 0;
    return this.#random.chance(repeated) ? 2 : 1;
  }

  get isReplyLost(): boolean {
    return this.#random.chance(this.#now.replyLost ?? 0);
  }

  /** Returns when a message sent now arrives, in simulated time. Returns `undefined` if it never arrives. */
  arrival(way: Direction): number | undefined {
    const failure = this.#now;
    const now = this.#timeline.now();
    if (failure[way] === 'lost') return undefined;
    const { slowMs = 0, slowResponsesMs = 0 } = failure;
    const mostMs = USUAL_MS + slowMs + (way === 'back' ? slowResponsesMs : 0);
    const takesMs = this.#random.between(QUICKEST_MS, mostMs);
    return takesMs + (failure[way] === 'late' ? this.#troubleUntil : now);
  }

  /** Runs the task at the simulated time `at`, on the machine that receives the message. */
  deliver(way: Direction, at: number, task: () => void): void {
    const machine = way === 'there' ? this.member.machine : this.client;
    this.#timeline.after(at - this.#timeline.now(), machine, task);
  }

  get #now(): LinkFaults {
    return this.#timeline.now() < this.#troubleUntil ? this.#failure : {};
  }
}
