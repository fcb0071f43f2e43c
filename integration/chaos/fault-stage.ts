import type { Cluster } from '@queuelock/harness/clusters';
import type { Experiment } from './experiment.ts';
import type { WorkerProcess } from './worker-process.ts';

export type Undo = () => Promise<unknown>;

/** The experiment, cluster, queues and workers on which faults act. */
export interface Stage {
  readonly experiment: Experiment;
  readonly cluster: Cluster;
  /** Queues in which an operator removes entries. */
  readonly operated: readonly string[];
  /** Returns the running worker with this number, or `undefined` if it has just ended by itself. */
  worker(place: number): WorkerProcess | undefined;
  /** Starts a new worker, which gets the number of a worker that has ended. */
  replace(place: number): Promise<void>;
}
