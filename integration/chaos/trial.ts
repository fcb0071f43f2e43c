import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterClient } from '@queuelock/harness/clusters';
import { livedSince } from '@queuelock/harness/lived-time';
import { Chance, SEED_SETTING } from './chance.ts';
import { check, type Verdict } from '@queuelock/harness/check';
import { within } from './deadline.ts';
import type { Limits } from '@queuelock/harness/check/limits';
import type { Fault } from '@queuelock/harness/check/run';
import { createEffectTable, type EffectTable } from './effects-sql.ts';
import type { AttemptEvent, Resource } from '@queuelock/harness/check/event';
import { readRun } from '@queuelock/harness/check/history';
import type { LeftOver } from './leftovers.ts';
import type { Timing } from './profiles.ts';
import { recordStandstills } from './standstills.ts';
import { expectSafe } from './verdicts.ts';
import type { Rule, WorkerSetup } from './worker-command.ts';
import { WorkerProcess } from './worker-process.ts';
import { Recorder } from '@queuelock/harness/check/worker-record';

/** Servers of a trial. */
export interface Ground {
  /** Returns the URL of a worker for these addresses of the servers. */
  url(endpoints: readonly string[]): string;
  /** Makes a location for a worker without a detour. */
  addPlace(): Promise<ClusterClient>;
  /** Ends the faults: a server does not notice the end of a client that is cut off. */
  heal(): Promise<unknown>;
  /** Reads what is left on the servers of these queues, and all sessions. */
  leftOvers(queues: readonly string[]): Promise<readonly LeftOver[]>;
  /** Returns the fenced resource in the store itself, by a unique name. Without it there is none. */
  resource?(name: string): string;
}

export interface TrialSettings {
  readonly timing: Timing;
  /** How workers believe in their holds. Default `product`. */
  readonly rule?: Rule;
  /** Replaces the core's safety margin, in milliseconds. */
  readonly safetyMarginMs?: number;
  /** Longest hold of the load, in milliseconds. Default 1,000. */
  readonly holdMs?: number;
  /** Limits that differ from those of the timing. */
  readonly limits?: Partial<Limits>;
}

/** Options of one worker. */
export interface WorkerOptions extends Partial<
  Pick<WorkerSetup, 'ttlMs' | 'heartbeatIntervalMs' | 'seed' | 'quiet' | 'clients' | 'clock'>
> {
  readonly rule?: Rule;
  /**
   * Other addresses of the members, in their order, which lead to proxies of this process. The worker then runs directly on this
   * machine, as the proxies do.
   */
  readonly detour?: readonly string[];
  /** Its location. Default: a new one. */
  readonly place?: ClusterClient;
  /** Returns its URL from the addresses of the members, instead of the profile's. */
  readonly url?: (endpoints: readonly string[]) => string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

const SETTLE_MS = 2_000;
const CLOSE_WITHIN_MS = 20_000;
const SERVE_WITHIN_MS = 30_000;
const SERVE_EVERY_MS = 10;
const LOOK_EVERY_MS = 200;

/** Aborts trials that failed tests left running, and fails if anything in them was unsafe. For `afterEach`. */
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
  /** Directory with a history per process. */
  readonly directory: string;
  readonly workers: WorkerProcess[] = [];
  readonly recorder: Recorder;
  readonly chance: Chance = new Chance();
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

  /** Starts another worker, in a location whose links can be cut without those of others. */
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

  /** Waits until these workers are granted, and ends them: a long trial has others after them. */
  async retire(workers: readonly WorkerProcess[]): Promise<void> {
    await this.#serve(workers);
    await Promise.all(workers.map((worker) => this.#close(worker)));
    await Promise.all(workers.map((worker) => (worker.place ?? worker).stop()));
    for (const worker of workers) this.workers.splice(this.workers.indexOf(worker), 1);
  }

  /** Makes a fault, recorded from before `action` until the returned function is called. */
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

  /** Ends new attempts and all faults: from now on all waiters have to be granted. */
  calm(): void {
    if (this.#calm) return;
    this.#calm = true;
    for (const worker of this.workers) worker.tell({ do: 'drain' });
    this.recorder.tell({ ev: 'calm' });
  }

  /** As `finish`, and checks the whole. Keeps the histories of a run with findings. */
  async end(): Promise<Verdict> {
    await this.finish();
    const { run } = await readRun(this.directory);
    const verdict = check(run, this.limits);
    if (verdict.findings.length === 0) await rm(this.directory, { recursive: true });
    return verdict;
  }

  /** Lets all workers finish: waiters are granted, one after another, and then closed. Reads what is left on the servers. */
  async finish(): Promise<void> {
    if (!underWay.has(this)) throw new Error(OVER);
    await this.#allStarted();
    await Promise.all(this.workers.map((worker) => worker.thaw()));
    this.calm();
    await this.#serve(this.workers);
    await Promise.all(this.workers.map((worker) => this.#close(worker)));
    await this.#lookWhatIsLeft();
    // It may have been aborted meanwhile.
    if (!underWay.delete(this)) throw new Error(OVER);
    this.#endStandstills();
    this.recorder.tell({ ev: 'end' });
    await this.#stop();
  }

  /**
   * Ends it in any state, and fails if anything in it was unsafe, except for controls. Keeps the histories. Heals faults first: a
   * server does not notice the end of a client that is cut off, and keeps its watches.
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

  /** Limits that its history is checked against. */
  get limits(): Limits {
    const { ttlMs, expiryMs, withLeaderLossMs } = this.timing;
    return {
      crashMs: ttlMs + expiryMs,
      crashInTroubleMs: withLeaderLossMs,
      holdMs: this.#settings.holdMs ?? 1_000,
      ...this.#settings.limits,
    };
  }

  // Holders get the command to release, so that the next one is granted. The checker finds waiters that never are.
  async #serve(workers: readonly WorkerProcess[]): Promise<void> {
    const told = new Set<AttemptEvent>();
    const begun = performance.now();
    for (;;) {
      const running = workers.filter((worker) => worker.running);
      const open = running.flatMap((worker) => worker.openAttempts.map((attempt) => ({ worker, attempt })));
      for (const { worker, attempt } of open) {
        if (attempt.ev !== 'acquired' || told.has(attempt)) continue;
        told.add(attempt);
        worker.tell({ do: 'release', queue: attempt.queue, n: attempt.n });
      }
      if (open.length === 0 || livedSince(begun) > SERVE_WITHIN_MS) return;
      await pause(SERVE_EVERY_MS);
    }
  }

  /** Includes workers that are being started: their end is recorded too. */
  async #allStarted(): Promise<void> {
    await Promise.allSettled(this.#starting);
  }

  async #close(worker: WorkerProcess): Promise<void> {
    if (!worker.running) return;
    worker.tell({ do: 'close' });
    // The checker reports that it did not end by itself.
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
      await pause(LOOK_EVERY_MS);
    }
  }
}
