import { createMemoryServer } from '@queuelock/memory';
import { Actor } from './actor.ts';
import { borrowGlobals } from './borrowed-globals.ts';
import type { Claim } from './claim.ts';
import { Judge, type Rule } from './judge.ts';
import { Ledger } from './ledger.ts';
import type { Spoil } from './defects/defect.ts';
import { Fates } from './network.ts';
import type { Deed, History } from './plan.ts';
import { Succession } from './succession.ts';
import { Timeline } from './timeline.ts';
import type { Core, World } from './world.ts';

const STEP_MS = 500;
// Longer than any event is on its way, or a client goes without a heartbeat.
const ALL_NEWS_MS = 2_500;
const PATIENCE_MS = 20_000;
const TTL_AND_PAUSES_MS = 8_000;

/** How a history went. */
export interface Verdict {
  readonly broken: Rule | undefined;
  readonly trace: readonly string[];
}

/** Plays a history with the given core, in no real time, and judges it. */
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
  readonly #claims: Claim[] = [];

  constructor(subject: Pick<World, 'core' | 'spoil'>, history: History) {
    const timeline = this.#timeline;
    const clock = {
      now: () => timeline.now(),
      after: (ms: number, task: () => void) => timeline.after(ms, task),
    };
    const server = createMemoryServer({ clock });
    const ledger = new Ledger(timeline);
    this.judge = new Judge(() => timeline.now());
    const shared = { ...subject, timeline, server, ledger, judge: this.judge };
    this.#world = { ...shared, succession: new Succession(shared) };
    this.#history = history;
    this.#fates = new Fates(history.fates);
    this.#actors = history.clients.map(
      (plan, index) => new Actor(this.#world, plan, { index, fates: this.#fates }),
    );
    timeline.observer = {
      acted: () => this.#world.succession.acted(),
      settled: () => this.#settled(),
    };
  }

  async play(): Promise<void> {
    const giveBack = borrowGlobals(this.#timeline, (reason) => this.#lost(reason));
    try {
      await this.#acts();
    } catch (error) {
      this.#lost(error);
    } finally {
      giveBack();
    }
  }

  async #acts(): Promise<void> {
    let at = 0;
    for (const { after, deed } of this.#history.deeds) {
      at += after;
      this.#timeline.after(at, () => this.#perform(deed));
    }
    await this.#pass(at + STEP_MS, () => false);
    await this.#calmDown();
    await this.#everybodyGetsThere();
    await this.#leave();
  }

  /** Lets time pass until `done`, a broken rule, or the limit. */
  async #pass(limitMs: number, done: () => boolean): Promise<void> {
    for (let passed = 0; passed < limitMs && !done() && !this.judge.broken; passed += STEP_MS) {
      await this.#timeline.advance(Math.min(STEP_MS, limitMs - passed));
    }
  }

  async #calmDown(): Promise<void> {
    this.judge.note('the trouble is over');
    this.#fates.calm();
    for (const { network } of this.#actors) network.heal();
    await this.#pass(PATIENCE_MS, () => this.#actors.every(({ machine }) => machine.frozenMs === 0));
    this.judge.calmSince = this.#timeline.now();
    await this.#pass(ALL_NEWS_MS, () => false);
    this.#world.succession.haveLearned();
  }

  async #everybodyGetsThere(): Promise<void> {
    const { server } = this.#world;
    for (const claim of this.#claimsOfAll()) claim.hurry();
    const waiting = (): readonly Claim[] => this.#claimsOfAll().filter(({ over }) => !over);
    await this.#pass(PATIENCE_MS, () => waiting().length === 0 && server.entryCount === 0);
    if (this.judge.broken) return;
    this.judge.require('progress', waiting().length === 0, () =>
      waiting()
        .map(({ label }) => label)
        .join(),
    );
    const left = [server.entryCount, server.watcherCount];
    this.judge.require('nothing left', left.join() === '0,0', () => `entries, watchers: ${left.join()}`);
  }

  async #leave(): Promise<void> {
    const { server } = this.#world;
    for (const actor of this.#actors) if (!actor.closed) actor.close();
    const left = (): string =>
      [server.sessionIds.length, this.#timeline.timerCount, server.watcherCount].join();
    const closed = (): boolean => this.#actors.every(({ hasClosed }) => hasClosed);
    await this.#pass(TTL_AND_PAUSES_MS, () => closed() && left() === '0,0,0');
    if (this.judge.broken) return;
    this.judge.require('progress', closed(), () => 'a close does not settle');
    this.judge.require('nothing left', left() === '0,0,0', () => `sessions, timers, watchers: ${left()}`);
    const { breaches } = this.#world.ledger;
    this.judge.require('contract', breaches.length === 0, () => breaches.join());
  }

  #claimsOfAll(): readonly Claim[] {
    return this.#actors.flatMap(({ claims }) => claims);
  }

  #settled(): void {
    this.#world.succession.settled();
    for (const actor of this.#actors) {
      actor.settled();
      for (const claim of actor.claims) claim.settled();
    }
  }

  #lost(reason: unknown): void {
    this.judge.require('nothing lost', false, () =>
      reason instanceof Error ? String(reason.stack) : String(reason),
    );
  }

  #perform(deed: Deed): void {
    switch (deed.do) {
      case 'claim': {
        const actor = this.#actors[deed.client]!;
        actor.machine.do(() => {
          const claim = actor.claim(deed);
          this.#claims.push(claim);
          claim.start();
        });
        return;
      }
      case 'abort':
      case 'unsubscribe':
      case 'release': {
        const claim = this.#claims.at(-1 - deed.which);
        claim?.machine.do(() => {
          if (deed.do === 'release') claim.finish(deed.times);
          else claim[deed.do]();
        });
        return;
      }
      case 'close': {
        const actor = this.#actors[deed.client]!;
        actor.machine.do(() => actor.close());
        return;
      }
      default:
        this.#trouble(deed);
    }
  }

  #trouble(deed: Extract<Deed, { do: 'expire' | 'evict' | 'freeze' | 'cut' | 'doubt' | 'deny' }>): void {
    const { server, ledger } = this.#world;
    this.judge.note(JSON.stringify(deed));
    switch (deed.do) {
      case 'freeze':
        this.#actors[deed.client]!.machine.freeze(deed.ms);
        return;
      case 'cut':
        this.#actors[deed.client]!.network.cut(deed.ms, deed.what);
        return;
      case 'doubt': {
        const actor = this.#actors[deed.client]!;
        actor.machine.do(() => actor.doubt());
        return;
      }
      case 'deny':
        this.#actors[deed.client]!.deny(deed.name, deed.ms);
        return;
      case 'evict': {
        const entry = server.queues().get(deed.name)?.at(deed.place);
        if (!entry) return;
        ledger.evicted.add(entry.key);
        server.evict(entry.key);
        return;
      }
      case 'expire': {
        const id = server.sessionIds[deed.client];
        if (id === undefined) return;
        ledger.ended.add(id);
        server.expireSession(id);
      }
    }
  }
}
