import type { Random } from './random.ts';
import type { Machine, Timeline } from './timeline.ts';

/** The faults between a client and a member. Probabilities are from 0 to 1. */
export interface LinkFaults {
  /**
   * Messages to the member are lost, or arrive when the fault is over (`late`). `back` is the same for
   * messages to the client.
   */
  readonly there?: 'lost' | 'late';
  readonly back?: 'lost' | 'late';
  /** Probabilities that a request is lost, that its response is lost, and that it is executed twice. */
  readonly requestLost?: number;
  readonly replyLost?: number;
  readonly repeated?: number;
  /** Largest additional delay of requests in milliseconds. */
  readonly slowMs?: number;
  readonly slowAnswersMs?: number;
}

/** Direction of a message: `there` is to the member, `back` is to the client. */
export type Direction = 'there' | 'back';

/** The member's end of a link. */
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
  /** Functions that fail the calls in flight when the connection is cut. */
  readonly #calls = new Set<(reason: string) => void>();
  #trouble: LinkFaults = {};
  #troubleUntil = 0;

  constructor(timeline: Timeline, random: Random, ends: { readonly client: Machine; readonly member: M }) {
    this.#timeline = timeline;
    this.#random = random;
    this.client = ends.client;
    this.member = ends.member;
  }

  /** Number of calls in flight. */
  get calls(): number {
    return this.#calls.size;
  }

  trouble(trouble: LinkFaults, ms: number): void {
    this.#trouble = trouble;
    this.#troubleUntil = this.#timeline.now() + ms;
  }

  heal(): void {
    this.#troubleUntil = 0;
  }

  /** Cuts the connection. All calls in flight fail, whether they were executed or not. */
  reset(): void {
    for (const fail of [...this.#calls]) this.client.do(() => fail('connection reset by peer'));
  }

  /** Calls `fail` when the connection is cut. The returned function removes the callback. */
  onReset(fail: (reason: string) => void): () => void {
    this.#calls.add(fail);
    return () => this.#calls.delete(fail);
  }

  /** Returns how many times the next request arrives: 0 if it is lost, 2 if it is repeated. */
  times(): number {
    const { requestLost = 0, repeated = 0 } = this.#now;
    if (this.#random.chance(requestLost)) return 0;
    return this.#random.chance(repeated) ? 2 : 1;
  }

  get isReplyLost(): boolean {
    return this.#random.chance(this.#now.replyLost ?? 0);
  }

  /** Returns the true time at which a message sent now arrives, or `undefined` if it never arrives. */
  arrival(way: Direction): number | undefined {
    const trouble = this.#now;
    const now = this.#timeline.now();
    if (trouble[way] === 'lost') return undefined;
    const { slowMs = 0, slowAnswersMs = 0 } = trouble;
    const mostMs = USUAL_MS + slowMs + (way === 'back' ? slowAnswersMs : 0);
    const takesMs = this.#random.between(QUICKEST_MS, mostMs);
    return takesMs + (trouble[way] === 'late' ? this.#troubleUntil : now);
  }

  /** Runs the task at the true time `at`, on the machine that receives messages of that direction. */
  deliver(way: Direction, at: number, task: () => void): void {
    const machine = way === 'there' ? this.member.machine : this.client;
    this.#timeline.after(at - this.#timeline.now(), machine, task);
  }

  get #now(): LinkFaults {
    return this.#timeline.now() < this.#troubleUntil ? this.#trouble : {};
  }
}
