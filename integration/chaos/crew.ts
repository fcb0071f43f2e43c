import type { ClusterClient } from '@queuelock/harness/clusters';
import type { Experiment } from './experiment.ts';
import { urlOf } from './profiles.ts';
import type { LoadCommand } from './worker-load.ts';
import type { Rule } from './worker-command.ts';
import { chanceOf } from '@queuelock/harness/chance';
import type { WorkerProcess } from './worker-process.ts';

export interface CrewOptions {
  /**
   * Number of workers that run at any time. They are numbered from 0. When a worker ends, a new worker gets
   * its number.
   */
  readonly workers: number;
  readonly seed: number;
  readonly rule: Rule;
  /** The commands by which each worker claims locks repeatedly, from its start on. */
  readonly loads: readonly LoadCommand[];
}

/** A fixed number of workers. A worker that ends is replaced. */
export class Crew {
  readonly #experiment: Experiment;
  readonly #options: CrewOptions;
  readonly #chance: () => number;
  readonly #places: (WorkerProcess | undefined)[] = [];
  #isOver = false;

  constructor(experiment: Experiment, options: CrewOptions) {
    this.#experiment = experiment;
    this.#options = options;
    this.#chance = chanceOf(options.seed);
  }

  async start(): Promise<void> {
    await Promise.all([...Array(this.#options.workers).keys()].map((place) => this.#fill(place)));
  }

  /** Returns the running worker with this number. The number passes to a new worker when a worker ends. */
  worker(place: number): WorkerProcess | undefined {
    const worker = this.#places[place];
    return worker?.running ? worker : undefined;
  }

  /** Ids of the workers that run at present. */
  get ids(): readonly string[] {
    return this.#places.flatMap((worker) => (worker?.running ? [worker.id] : []));
  }

  /** Starts a new worker, which gets the number of a killed worker. */
  async replace(place: number): Promise<void> {
    const { workers } = this.#experiment;
    const gone = this.#places[place];
    // Removes the killed worker from the experiment, which would otherwise wait for it at the end.
    if (gone) workers.splice(workers.indexOf(gone), 1);
    await this.#fill(place, gone?.place);
  }

  /** Stops replacing workers that end. */
  stop(): void {
    this.#isOver = true;
  }

  async #fill(place: number, site?: ClusterClient): Promise<void> {
    const { seed, rule, loads } = this.#options;
    const worker = await this.#experiment.addWorker({
      seed: Math.floor(this.#chance() * 2 ** 31) ^ seed,
      quiet: true,
      ...(site ? { place: site } : {}),
      url: (endpoints) =>
        this.#urlOf(rule === 'connected' ? [endpoints[place % endpoints.length]!] : endpoints),
    });
    this.#places[place] = worker;
    for (const load of loads) worker.tell(load);
    // If a worker ends without being killed, starts a new worker, so that the load continues. The checker
    // reports the ended worker unless it ended cleanly.
    void worker.ended.then(({ signal }) => {
      if (signal !== 'SIGKILL' && !this.#isOver) void this.replace(place);
    });
  }

  #urlOf(endpoints: readonly string[]): string {
    return urlOf(this.#experiment.store, 'fast', endpoints);
  }
}
