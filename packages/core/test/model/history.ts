import { createMemoryServer } from '@queuelock/memory';
import { Actor } from './actor.ts';
import { borrowGlobals } from './borrowed-globals.ts';
import { perform } from './actions.ts';
import type { Spoil } from './defects/defect.ts';
import { Judge, type Rule } from './judge.ts';
import { Ledger } from './ledger.ts';
import { Fates } from './network.ts';
import type { History } from './plan.ts';
import type { Program } from './program.ts';
import { Succession } from './succession.ts';
import { Timeline } from './timeline.ts';
import type { Core, World } from './world.ts';

const STEP_MS = 500;
// Time after the last fault of a history, in milliseconds. By its end all late messages have arrived, and
// each client has a confirmed heartbeat.
const ALL_NEWS_MS = 2_500;
const MAX_WAIT_MS = 20_000;
const TTL_AND_PAUSES_MS = 8_000;

/** The outcome of a history: the first broken rule, if any, and the log of its events. */
export interface Verdict {
  readonly broken: Rule | undefined;
  readonly trace: readonly string[];
}

/** Runs a history in virtual time with the given core, and checks the rules of judge.ts. */
export async function play(core: Core, history: History, spoil?: Spoil): Promise<Verdict> {
  const stage = new Stage({ core, spoil }, history);
  await stage.play();
  const { broken, trace } = stage.judge;
  return { broken, trace };
}

class Stage {
  readonly judge: Judge;
  readonly #history: History;
  readonly #timeline = new Timeline();
  readonly #world: World;
  readonly #fates: Fates;
  readonly #actors: readonly Actor[];

  constructor(subject: Pick<World, 'core' | 'spoil'>, history: History) {
    const timeline = this.#timeline;
    const server = createMemoryServer({ clock: timeline });
    const ledger = new Ledger(timeline);
    this.judge = new Judge(() => timeline.now());
    const shared = { ...subject, timeline, server, ledger, judge: this.judge };
    this.#world = { ...shared, succession: new Succession(shared), programs: [] };
    this.#history = history;
    const fates = new Fates(history.fates);
    this.#fates = fates;
    const { lockDelayMs = 0 } = history;
    this.#world.succession.delayMs = lockDelayMs;
    this.#actors = history.clients.map(
      (plan, index) => new Actor(this.#world, plan, { index, fates, lockDelayMs }),
    );
  }

  async play(): Promise<void> {
    const { succession } = this.#world;
    const giveBack = borrowGlobals(this.#timeline, (reason) => this.#unhandled(reason));
    this.#timeline.observe({
      acted: () => succession.acted(),
      settled: () => {
        for (const actor of this.#actors) actor.settled();
        // Reads `held` of the holders after all other checks, because such a read may itself end a hold.
        succession.settled();
      },
    });
    try {
      await this.#playActions();
      await this.#calmDown();
      await this.#everybodyGetsThere();
      await this.#everybodyLeaves();
    } catch (error) {
      this.#unhandled(error);
    } finally {
      giveBack();
    }
  }

  async #playActions(): Promise<void> {
    let at = 0;
    for (const { after, action } of this.#history.actions) {
      at += after;
      this.#timeline.after(at, () => perform(action, this.#actors, this.#world));
    }
    await this.#pass(at + STEP_MS, () => false);
  }

  /**
   * Advances the virtual time until the condition `done` is true, a rule is broken, or `limitMs` has passed.
   */
  async #pass(limitMs: number, done: () => boolean): Promise<void> {
    for (let passed = 0; passed < limitMs && !done() && !this.judge.broken; passed += STEP_MS) {
      await this.#timeline.advance(Math.min(STEP_MS, limitMs - passed));
    }
  }

  async #calmDown(): Promise<void> {
    this.judge.note('the trouble is over');
    this.#fates.calm();
    for (const { network } of this.#actors) network.heal();
    await this.#pass(MAX_WAIT_MS, () => this.#actors.every(({ machine }) => machine.frozenMs === 0));
    this.judge.calmSince = this.#timeline.now();
    await this.#pass(ALL_NEWS_MS, () => false);
    this.#world.succession.haveLearned();
  }

  async #everybodyGetsThere(): Promise<void> {
    const { server, programs } = this.#world;
    const waiting = (): readonly Program[] => programs.filter(({ claim }) => !claim.over);
    for (const program of programs) program.hurry();
    await this.#pass(MAX_WAIT_MS, () => waiting().length === 0 && server.entryCount === 0);
    if (this.judge.broken) return;
    const labels = waiting().map(({ claim }) => claim.label);
    this.judge.require('progress', labels.length === 0, () => `still waiting: ${labels.join()}`);
    const left = [server.entryCount, server.watcherCount];
    this.judge.require('nothing left', left.join() === '0,0', () => `entries, watchers: ${left.join()}`);
  }

  async #everybodyLeaves(): Promise<void> {
    const { server, ledger } = this.#world;
    for (const actor of this.#actors) if (!actor.closed) actor.close();
    const left = (): string =>
      [server.sessionIds.length, this.#timeline.timerCount, server.watcherCount].join();
    const closed = (): boolean => this.#actors.every(({ hasClosed }) => hasClosed);
    await this.#pass(TTL_AND_PAUSES_MS, () => closed() && left() === '0,0,0');
    if (this.judge.broken) return;
    this.judge.require('progress', closed(), () => 'a close does not settle');
    this.judge.require('nothing left', left() === '0,0,0', () => `sessions, timers, watchers: ${left()}`);
    this.judge.require('contract', ledger.breaches.length === 0, () => ledger.breaches.join());
  }

  #unhandled(reason: unknown): void {
    const detail = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    this.judge.require('nothing lost', false, () => detail);
  }
}
