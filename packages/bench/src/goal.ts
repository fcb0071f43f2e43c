import type { Medium } from './cells.ts';
import type { Results } from './results.ts';

/** The transport of queuelock and the kind of server to which a goal applies, with the results of the run. */
export interface Subject {
  readonly results: Results;
  readonly store: 'etcd' | 'zookeeper';
  readonly medium: Medium;
  readonly transport: string;
  /** Name of the client in the tables: queuelock with the measured transport. */
  readonly client: string;
}

export interface Goal {
  /** Id of the goal, such as `G3`. */
  readonly id: string;
  readonly what: string;
  /** Whether the goal is an upper limit (`most`) or a lower limit (`least`). */
  readonly limit: 'most' | 'least';
  readonly goal: number;
  readonly stretch: number;
  /**
   * Returns the value that the goal limits, computed from the results; `undefined` if a result that it needs
   * is missing.
   */
  readonly reached: (subject: Subject) => number | undefined;
}
