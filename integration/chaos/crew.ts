import type { ClusterClient } from '@queuelock/harness/clusters';
import type { Experiment } from './experiment.ts';
import { urlOf } from './profiles.ts';
import type { LoadCommand } from './worker-load.ts';
import type { Rule } from './worker-command.ts';
import { chanceOf } from './worker-load.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface CrewOptions {
  /** How many places there are. */
  readonly workers: number;
  readonly seed: number;
  readonly rule: Rule;
  /** What everybody does from the beginning on. */
  readonly loads: readonly LoadCommand[];
}

/** A number of workers; whoever is gone is replaced by another one. */
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

  /** Who works in this place now. */
  worker(place: number): WorkerProcess | undefined {
    const worker = this.#places[place];
    return worker?.running ? worker : undefined;
  }

  /** Those that run now. */
  get ids(): readonly string[] {
    return this.#places.flatMap((worker) => (worker?.running ? [worker.id] : []));
  }

  /** Puts a new worker where one was killed. */
  async replace(place: number): Promise<void> {
    const { workers } = this.#experiment;
    const gone = this.#places[place];
    // What the experiment does at its end is not for the dead.
    if (gone) workers.splice(workers.indexOf(gone), 1);
    await this.#fill(place, gone?.place);
  }

  /** Nobody is replaced from now on. */
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
    // A worker that ends by itself is for the checker to judge; the load goes on.
    void worker.ended.then(({ signal }) => {
      if (signal !== 'SIGKILL' && !this.#isOver) void this.replace(place);
    });
  }

  #urlOf(endpoints: readonly string[]): string {
    return urlOf(this.#experiment.store, 'fast', endpoints);
  }
}
