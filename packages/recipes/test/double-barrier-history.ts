import type { Intercept } from '@queuelock/memory';
import fc from 'fast-check';
import { doubleBarrier, type DoubleBarrier, type RoundMembership } from '../src/index.ts';
import { MemoryStage } from './election-stage.ts';

const LONG_AFTER_MS = 4_000;

/**
 * What one simulated member does: when it first enters, how long it works in a round, in how many rounds it
 * takes part, and when it gives up.
 */
interface Plan {
  readonly beginsAt: number;
  readonly worksMs: number;
  readonly rounds: number;
  readonly givesUpAfterMs: number | undefined;
}

/** The plans of the members in one process, and the failures of that process. */
interface Fate {
  readonly plans: readonly Plan[];
  readonly diesAt: number | undefined;
  readonly noticedAfterMs: number;
  /** Delays of the messages of the process in milliseconds, repeated in this order. */
  readonly delaysMs: readonly number[];
}

const rarely = (max: number): fc.Arbitrary<number | undefined> =>
  fc.option(fc.integer({ min: 0, max }), { nil: undefined, freq: 2 });

const plan: fc.Arbitrary<Plan> = fc.record({
  beginsAt: fc.nat(20),
  worksMs: fc.nat(10),
  rounds: fc.integer({ min: 1, max: 3 }),
  givesUpAfterMs: rarely(60),
});

const fate: fc.Arbitrary<Fate> = fc.record({
  plans: fc.array(plan, { minLength: 1, maxLength: 2 }),
  diesAt: rarely(80),
  noticedAfterMs: fc.nat(40),
  delaysMs: fc.array(fc.nat(8), { minLength: 1, maxLength: 6 }),
});

const history = fc.record({
  members: fc.integer({ min: 1, max: 3 }),
  fates: fc.array(fate, { minLength: 2, maxLength: 5 }),
});

/**
 * Records which members begin and leave. Throws when a round has too many members, overlaps another round, or
 * ends before its members have finished.
 */
class Judge {
  readonly #members: number;
  readonly #rounds = new Map<string, Set<Walker>>();
  readonly #over = new Set<string>();

  constructor(members: number) {
    this.#members = members;
  }

  enters(who: Walker, { round, index }: RoundMembership): void {
    if (who.isDead) return;
    const inside = this.#rounds.get(round) ?? new Set();
    require(!this.#over.has(round), 'somebody begins a round that others have ended');
    require([...inside].every((other) => other.place?.index !== index), 'two have the same place');
    this.#rounds.set(round, inside.add(who));
    require(inside.size <= this.#members, 'more than the members are in');
    for (const [other, others] of this.#rounds) {
      const busy = other !== round && [...others].some((one) => one.place?.round === other && one.isBusy);
      require(!busy, 'a round begins while members of another are at work');
    }
  }

  ends(who: Walker, round: string): void {
    if (who.isDead) return;
    this.#over.add(round);
    const busy = [...this.#rounds.get(round)!].some((one) => one.place?.round === round && one.isBusy);
    require(!busy, 'somebody ends a round in which others are at work');
  }

  afterAll(walkers: readonly Walker[]): void {
    const alive = walkers.filter(({ isDead }) => !isDead);
    const waiting = alive.filter(({ at }) => at === 'waiting');
    require(waiting.length < this.#members, 'as many as it takes wait for ever');
    require(alive.every(({ at }) => at !== 'leaving'), 'somebody waits for ever to leave');
  }
}

class Walker {
  at: 'outside' | 'waiting' | 'in' | 'leaving' | 'done' = 'outside';
  place: RoundMembership | undefined;
  readonly #process: Process;
  readonly #plan: Plan;

  constructor(process: Process, one: Plan) {
    this.#process = process;
    this.#plan = one;
  }

  get isDead(): boolean {
    return this.#process.isDead;
  }

  get isBusy(): boolean {
    return !this.isDead && this.at === 'in';
  }

  async walk(barrier: DoubleBarrier, judge: Judge): Promise<void> {
    const { pass } = this.#process;
    await pass(this.#plan.beginsAt);
    for (let round = 0; round < this.#plan.rounds; round++) {
      this.at = 'waiting';
      try {
        this.place = await barrier.enter({ signal: this.#cancelSignal() });
      } catch {
        this.at = 'outside';
        continue;
      }
      this.at = 'in';
      judge.enters(this, this.place);
      await pass(this.#plan.worksMs);
      this.at = 'leaving';
      await this.place.leave();
      judge.ends(this, this.place.round);
    }
    this.at = 'done';
  }

  #cancelSignal(): AbortSignal {
    const stop = new AbortController();
    const { givesUpAfterMs } = this.#plan;
    if (givesUpAfterMs !== undefined) {
      void this.#process.pass(givesUpAfterMs).then(() => stop.abort(new Error('given up')));
    }
    return stop.signal;
  }
}

class Process {
  isDead = false;
  readonly walkers: readonly Walker[];
  readonly #stage: MemoryStage;
  readonly #fate: Fate;
  #messages = 0;
  #session: string | undefined;

  constructor(stage: MemoryStage, one: Fate) {
    this.#stage = stage;
    this.#fate = one;
    this.walkers = one.plans.map((each) => new Walker(this, each));
  }

  async live(members: number, judge: Judge): Promise<void> {
    const intercept: Intercept = async (_call, proceed) => {
      await this.#delay();
      const response = await proceed();
      await this.#delay();
      return response;
    };
    const deliver = (arrive: () => void): void => void this.#delay().then(arrive);
    const client = this.#stage.client({ backend: { intercept, deliver } });
    client.session$.subscribe(({ id }) => (this.#session = id ?? this.#session));
    const barrier = doubleBarrier(client, 'x', { members });
    if (this.#fate.diesAt !== undefined) void this.#die(this.#fate.diesAt);
    await Promise.all(this.walkers.map((walker) => walker.walk(barrier, judge)));
  }

  readonly pass = async (ms: number): Promise<void> => {
    await new Promise<void>((resolve) => this.#stage.clock.after(ms, resolve));
  };

  async #die(atMs: number): Promise<void> {
    await this.pass(atMs);
    this.isDead = true;
    await this.pass(this.#fate.noticedAfterMs);
    if (this.#session !== undefined) this.#stage.server.expireSession(this.#session);
  }

  /**
   * Waits for the delay of the next message of the process. If the process has died, the message never
   * arrives.
   */
  async #delay(): Promise<void> {
    const { delaysMs } = this.#fate;
    await this.pass(delaysMs[this.#messages++ % delaysMs.length]!);
    if (this.isDead) await new Promise(() => undefined);
  }
}

function require(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken);
}

/**
 * Plays generated histories of a few processes at one double barrier. Checks each begin and each leave of a
 * member. At the end no waiter may be left.
 */
export const anyDoubleBarrierHistory: fc.IAsyncProperty<unknown> = fc.asyncProperty(
  history,
  async ({ members, fates }) => {
    const stage = new MemoryStage();
    const judge = new Judge(members);
    const processes = fates.map((one) => new Process(stage, one));
    const failures: unknown[] = [];
    for (const one of processes) one.live(members, judge).catch((error: unknown) => failures.push(error));
    await stage.clock.advance(LONG_AFTER_MS);
    if (failures.length > 0) throw failures[0];
    judge.afterAll(processes.flatMap(({ walkers }) => walkers));
  },
);
