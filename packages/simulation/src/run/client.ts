import type { LockClient, MultiOwnership, Ownership } from '@queuelock/core';
import type { Product } from '../product.ts';
import type { SimulatedDriver } from '../simulated-driver.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { Held, Holds } from './holds.ts';
import type { Judge } from './judge.ts';
import { LIMIT, type ClientPlan, type Step } from './plan.ts';

/** What a client lives in. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly judge: Judge;
  readonly holds: Holds;
}

/** Where a client connects to, and how. */
export interface Members {
  readonly hosts: readonly string[];
  readonly drive: (host: string) => SimulatedDriver;
}

interface Hold {
  readonly held: readonly Held[];
  readonly ownership: Ownership | MultiOwnership;
}

/** One process with a lock client, and the program that uses it. */
export class Client {
  readonly name: string;
  readonly machine: Machine;
  /** Lanes that have not ended. */
  running = 0;
  /** `crashed` from outside, `closed` when that has settled. */
  state: 'runs' | 'closing' | 'closed' | 'crashed' = 'runs';
  readonly drivers: SimulatedDriver[] = [];
  readonly #around: Surroundings;
  readonly #holds = new Set<Hold>();
  #client: LockClient | undefined;

  constructor(name: string, machine: Machine, around: Surroundings) {
    this.name = name;
    this.machine = machine;
    this.#around = around;
  }

  get isBusy(): boolean {
    return this.state !== 'crashed' && (this.running > 0 || this.state === 'closing');
  }

  start(product: Product, plan: ClientPlan, { hosts, drive }: Members): void {
    this.running = plan.lanes.length;
    this.machine.do(() => {
      const backend = product.etcdOver(
        (host) => {
          const driver = drive(host);
          this.drivers.push(driver);
          return driver;
        },
        { hosts },
      );
      this.#client = product.createLockClient(backend, {
        ttlMs: plan.ttlMs,
        clock: this.machine,
        owner: this.name,
      });
      plan.lanes.forEach((lane, i) => void this.#run(lane, `${this.name}${'xyz'[i] ?? ''}`));
    });
  }

  close(): void {
    if (this.state !== 'runs') return;
    this.state = 'closing';
    this.machine.do(() => {
      this.#around.judge.note(`${this.name} closes`);
      for (const { held } of this.#holds) held.forEach((one) => this.#around.holds.end(one));
      void this.#client?.close().then(() => {
        this.#around.judge.note(`${this.name} is closed`);
        this.state = 'closed';
      });
    });
  }

  crash(): void {
    if (this.state === 'closed') return;
    this.#around.judge.note(`${this.name} crashes`);
    this.state = 'crashed';
    this.machine.crash();
    this.machine.isDead = true;
    for (const driver of this.drivers) driver.crash();
    for (const { held } of this.#holds) held.forEach((one) => this.#around.holds.end(one));
  }

  async #run(lane: readonly Step[], who: string): Promise<void> {
    let number = 0;
    for (const step of lane) {
      number += 1;
      await this.#pause(step.afterMs);
      if (this.state !== 'runs') break;
      await this.#do(step, `${who}${number}`);
    }
    this.running -= 1;
  }

  async #do(step: Step, who: string): Promise<void> {
    const { judge } = this.#around;
    const aborting = new AbortController();
    const reason = new Error('aborted');
    judge.note(`${who} wants ${step.way} ${step.way === 'permits' ? `${step.permits} of p` : step.queue}`);
    const cancel =
      step.way === 'abort'
        ? this.machine.after(step.patienceMs ?? 0, () => aborting.abort(reason))
        : () => undefined;
    try {
      if (step.way === 'claim') await this.#claim(step, who);
      else await this.#use(step, who, await this.#ask(step, aborting.signal));
    } catch (error) {
      judge.ended(who, error, reason);
    } finally {
      cancel();
    }
  }

  #ask(step: Step, signal: AbortSignal): Promise<Ownership | MultiOwnership | undefined> {
    const client = this.#client as LockClient;
    const patience =
      step.patienceMs === undefined || step.way === 'abort'
        ? { signal }
        : { timeoutMs: step.patienceMs, signal };
    if (step.way === 'shared') return client.acquire(step.queue, { ...patience, mode: 'shared' });
    if (step.way === 'try') return client.tryAcquire(step.queue);
    if (step.way === 'multi') return client.multi(['a', 'b']).acquire(patience);
    if (step.way !== 'permits') return client.acquire(step.queue, patience);
    return client.acquire('p', { ...patience, limit: LIMIT, permits: step.permits });
  }

  async #use(step: Step, who: string, ownership: Ownership | MultiOwnership | undefined): Promise<void> {
    const { judge } = this.#around;
    if (!ownership) {
      judge.note(`${who} finds it busy`);
      return;
    }
    const hold = this.#begin(step, who, ownership);
    await this.#pause(step.holdMs / 2);
    if (step.way === 'downgrade' && 'downgrade' in ownership) {
      for (const held of hold.held) this.#around.holds.share(held);
      await ownership.downgrade().catch((error: unknown) => judge.ended(who, error, undefined));
    }
    await this.#pause(step.holdMs / 2);
    await this.#release(who, hold);
  }

  #begin(step: Step, who: string, ownership: Ownership | MultiOwnership): Hold {
    const singles = 'of' in ownership ? ownership.names.map((name) => ownership.of(name)) : [ownership];
    const isLimited = step.way === 'permits';
    const held = singles.map((single): Held => ({
      who,
      machine: this.machine,
      queue: single.name,
      key: single.key,
      token: single.token,
      limit: isLimited ? LIMIT : 1,
      permits: isLimited ? step.permits : 1,
      shared: step.way === 'shared',
      isHeld: () => single.held,
      isOver: false,
    }));
    for (const one of held) this.#around.holds.begin(one);
    const hold = { held, ownership };
    this.#holds.add(hold);
    return hold;
  }

  async #release(who: string, hold: Hold): Promise<void> {
    const { judge, holds } = this.#around;
    judge.note(`${who} ${hold.ownership.held ? 'releases' : 'has lost it'}`);
    for (const one of hold.held) holds.end(one);
    this.#holds.delete(hold);
    await hold.ownership.release();
    judge.note(`${who} has released`);
  }

  /** As a stream, left after a while in whatever state. */
  async #claim(step: Step, who: string): Promise<void> {
    let hold: Hold | undefined;
    const { judge, holds } = this.#around;
    const subscription = (this.#client as LockClient).claim(step.queue).subscribe({
      next: (state) => {
        if (state.status === 'held' && !hold) hold = this.#begin(step, who, state.ownership);
        if (state.status === 'ended' && state.outcome === 'failed') judge.ended(who, state.error, undefined);
      },
      error: (error: unknown) => judge.require('outcome', false, () => `${who} errors: ${String(error)}`),
    });
    await this.#pause(step.patienceMs ?? 0);
    hold?.held.forEach((one) => holds.end(one));
    if (hold) this.#holds.delete(hold);
    judge.note(`${who} leaves`);
    subscription.unsubscribe();
  }

  #pause(ms: number): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => this.machine.after(ms, resolve));
  }
}
