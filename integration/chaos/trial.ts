import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { livedSince } from '@queuelock/harness/lived-time';
import { Chance, SEED_SETTING } from './chance.ts';
import { check, type Verdict } from '@queuelock/harness/check';
import { within } from './deadline.ts';
import type { Limits } from '@queuelock/harness/check/limits';
import type { Fault } from '@queuelock/harness/check/run';
import { createEffectTable, type EffectTable } from './effects-sql.ts';
import type { Resource } from '@queuelock/harness/check/event';
import { readRun } from '@queuelock/harness/check/history';

import type { Timing } from './profiles.ts';
import { serveWaiters } from './serve-waiters.ts';
import { recordStandstills } from './standstills.ts';
import { expectSafe } from './verdicts.ts';

import { WorkerProcess } from './worker-process.ts';
import { Recorder } from '@queuelock/harness/check/worker-record';
import type { Ground, TrialSettings, WorkerOptions } from './trial-options.ts';

const SETTLE_MS = 2_000;
const CLOSE_WITHIN_MS = 20_000;
const READ_INTERVAL_MS = 200;

/**
 * Aborts trials that failed tests left running, and fails if the checker finds a violation of safety in one
 * of them. Call it in `afterEach`.
 */
export async function abandonTrials(): Promise<void> {
  const ends = await Promise.allSettled([...underWay].map((trial) => trial.giveUp()));
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  if (errors.length > 1) throw new AggregateError(errors, errors.join('\n'));
  for (const error of errors) throw error;
}

const OVER = 'the trial is over';
const underWay = new Set<Trial>();
let count = 0;

/** One run of workers on a store, with all its histories in one directory. */
export class Trial {
  readonly timing: Timing;
  /** Directory with a history for each process. */
  readonly directory: string;
  readonly workers: WorkerProcess[] = [];
  readonly recorder: Recorder;
  readonly chance: Chance;
  readonly #ground: Ground;
  readonly #settings: TrialSettings;
  readonly #name = `chaos-${process.pid}-${(count += 1)}`;
  readonly #queues = new Set<string>();
  readonly #table: EffectTable;
  readonly #starting: Promise<WorkerProcess>[] = [];
  readonly #endStandstills: () => void;
  #started = 0;
  #faults = 0;
  #calm = false;
  #isControl = false;

  constructor(ground: Ground, settings: TrialSettings) {
    this.#ground = ground;
    this.timing = {
      ...settings.timing,
      ...(settings.safetyMarginMs === undefined ? {} : { safetyMarginMs: settings.safetyMarginMs }),
    };
    this.#settings = settings;
    this.chance = new Chance(settings.seed);
    this.directory = mkdtempSync(join(tmpdir(), 'queuelock-chaos-'));
    this.recorder = new Recorder('harness', join(this.directory, 'harness.jsonl'));
    this.#table = createEffectTable(this.#resources.sql);
    this.#endStandstills = recordStandstills(this.recorder, () => (this.#faults += 1));
    underWay.add(this);
  }

  /** Returns a queue name that no other trial uses. */
  queue(name: string): string {
    const queue = `${this.#name}-${name}`;
    this.#queues.add(queue);
    this.#table.register(queue);
    return queue;
  }

  /**
   * Starts another worker, in a network location of its own, whose links can be cut without affecting other
   * workers.
   */
  addWorker(options: WorkerOptions = {}): Promise<WorkerProcess> {
    if (!underWay.has(this)) return Promise.reject(new Error(OVER));
    const starting = this.#addWorker(options);
    this.#starting.push(starting);
    return starting;
  }

  async #addWorker({
    rule = this.#settings.rule ?? 'product',
    url = (endpoints) => this.#ground.url(endpoints),
    env = {},
    detour,
    place: given,
    ...own
  }: WorkerOptions): Promise<WorkerProcess> {
    if (rule !== 'product' || own.clock?.alone) this.#isControl = true;
    const place = given ?? (detour ? undefined : await this.#ground.addPlace());
    const id = `worker-${(this.#started += 1)}`;
    const setup = {
      id,
      url: url(place?.endpoints ?? detour!),
      ttlMs: this.timing.ttlMs,
      safetyMarginMs: this.timing.safetyMarginMs,
      rule,
      history: join(this.directory, `${id}.jsonl`),
      resources: this.#resources,
      seed: this.chance.seed(),
      ...own,
    };
    const output = join(this.directory, `${id}.out`);
    const where = place ? { place } : {};
    const start = { setup, ...where, env, output, recorder: this.recorder };
    const worker = await WorkerProcess.start(start);
    this.workers.push(worker);
    return worker;
  }

  async addWorkers(number: number): Promise<readonly WorkerProcess[]> {
    return Promise.all(Array.from({ length: number }, () => this.addWorker()));
  }

  get #resources(): Partial<Record<Resource, string>> & { readonly sql: string } {
    const store = this.#ground.resource?.(`${this.#name}-effects`);
    return {
      ...(store === undefined ? {} : { store }),
      sql: join(this.directory, 'effects.sqlite'),
      log: join(this.directory, 'effects.log'),
    };
  }

  /**
   * Lets the given workers finish their claims in progress, and ends these workers. A long trial calls it
   * before it starts further workers.
   */
  async retire(workers: readonly WorkerProcess[]): Promise<void> {
    await serveWaiters(workers);
    await Promise.all(workers.map((worker) => this.#close(worker)));
    await Promise.all(workers.map((worker) => (worker.place ?? worker).stop()));
    for (const worker of workers) this.workers.splice(this.workers.indexOf(worker), 1);
  }

  /**
   * Calls `action`, which begins a fault. The history records that the fault lasts from before the call of
   * `action` until the returned function is called.
   */
  async fault(
    what: string,
    target: string,
    action: () => Promise<unknown>,
    more: Pick<Fault, 'entries'> = {},
  ): Promise<() => void> {
    const number = (this.#faults += 1);
    this.recorder.tell({ ev: 'fault', number, what, target, ...more });
    await action();
    return () => void this.recorder.tell({ ev: 'healed', number });
  }

  /**
   * Makes the workers start no new attempts, and records that all faults have ended. From then on all waiters
   * have to be granted.
   */
  calm(): void {
    if (this.#calm) return;
    this.#calm = true;
    for (const worker of this.workers) worker.tell({ do: 'drain' });
    this.recorder.tell({ ev: 'calm' });
  }

  /**
   * Ends all workers, and checks the whole history of the trial. Deletes the histories if the checker finds
   * no violation.
   */
  async end(): Promise<Verdict> {
    await this.finish();
    const { run } = await readRun(this.directory);
    const verdict = check(run, this.limits);
    if (verdict.findings.length === 0) await rm(this.directory, { recursive: true });
    return verdict;
  }

  /**
   * Lets all workers end in an orderly way: the waiters are granted one after another, and then the workers
   * are closed. Records what is left on the servers.
   */
  async finish(): Promise<void> {
    if (!underWay.has(this)) throw new Error(OVER);
    await this.#allStarted();
    await Promise.all(this.workers.map((worker) => worker.thaw()));
    this.calm();
    await serveWaiters(this.workers);
    await Promise.all(this.workers.map((worker) => this.#close(worker)));
    await this.#lookWhatIsLeft();
    // The trial may have been abandoned by `giveUp` while its workers finished, because its test failed. Then
    // this call rejects.
    if (!underWay.delete(this)) throw new Error(OVER);
    this.#endStandstills();
    this.recorder.tell({ ev: 'end' });
    await this.#stop();
  }

  /**
   * Ends the trial in any state, and keeps the histories. Fails if the checker finds a violation of safety,
   * unless the clients follow a weaker rule. Heals faults first: a server does not notice the end of a client
   * that is cut off, and keeps that client's watches.
   */
  async giveUp(): Promise<void> {
    if (!underWay.delete(this)) return;
    console.error(`${this.directory} is given up; ${SEED_SETTING}`);
    try {
      await this.#ground.heal();
    } finally {
      await this.#allStarted();
      await Promise.all(this.workers.filter(({ running }) => running).map((worker) => worker.kill()));
      this.#endStandstills();
      await this.#stop();
      if (!this.#isControl) await expectSafe(this.directory, this.limits);
    }
  }

  async #stop(): Promise<void> {
    await this.#allStarted();
    await Promise.all(this.workers.map((worker) => (worker.place ?? worker).stop()));
    this.recorder.close();
    this.#table.close();
  }

  /**
   * Limits for the checker: the longest hold, and the longest times from a crash of a worker to the removal
   * of its entries.
   */
  get limits(): Limits {
    const { ttlMs, expiryMs, withLeaderLossMs } = this.timing;
    return {
      crashMs: ttlMs + expiryMs,
      crashInTroubleMs: withLeaderLossMs,
      holdMs: this.#settings.holdMs ?? 1_000,
      ...this.#settings.limits,
    };
  }

  /** Waits for workers that are still starting, because the history records the end of each worker too. */
  async #allStarted(): Promise<void> {
    await Promise.allSettled(this.#starting);
  }

  async #close(worker: WorkerProcess): Promise<void> {
    if (!worker.running) return;
    worker.tell({ do: 'close' });
    // Kills a worker that does not end by itself in time. The checker reports the kill.
    await within(CLOSE_WITHIN_MS, worker.ended).catch(() => worker.kill());
  }

  async #lookWhatIsLeft(): Promise<void> {
    const begun = performance.now();
    for (;;) {
      const left = await this.#ground.leftOvers([...this.#queues]);
      if (left.length === 0) return;
      if (livedSince(begun) > this.timing.ttlMs + SETTLE_MS) {
        for (const leftOver of left) this.recorder.tell({ ev: 'left-over', ...leftOver });
        return;
      }
      await pause(READ_INTERVAL_MS);
    }
  }
}
