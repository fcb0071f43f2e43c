import type { Medium } from './cells.ts';
import type { Results } from './results.ts';

/** What a goal applies to: one transport of queuelock on one kind of server. */
export interface Subject {
  readonly results: Results;
  readonly store: 'etcd' | 'zookeeper';
  readonly medium: Medium;
  readonly transport: string;
  /** Name of queuelock with this transport in the tables. */
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
  /** Returns the measured value, or `undefined` if a required value was not measured. */
  readonly reached: (subject: Subject) => number | undefined;
}
