import type { Medium } from './cells.ts';
import type { Results } from './results.ts';

/** Subject of a goal: one transport of ours, on one kind of server. */
export interface Subject {
  readonly results: Results;
  readonly store: 'etcd' | 'zookeeper';
  readonly medium: Medium;
  readonly transport: string;
  /** Name in the tables. */
  readonly client: string;
}

export interface Goal {
  /** Id such as `G3`. */
  readonly id: string;
  readonly what: string;
  /** Which direction is better: `most` for an upper limit. */
  readonly limit: 'most' | 'least';
  readonly goal: number;
  readonly stretch: number;
  /** `undefined` if a required value was not measured. */
  readonly reached: (subject: Subject) => number | undefined;
}
