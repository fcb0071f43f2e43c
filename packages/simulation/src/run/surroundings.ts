import type { Product } from '../product.ts';
import type { Timeline } from '../timeline.ts';
import type { Agreements } from './agreements.ts';
import type { GuardedWrites } from './guarded-writes.ts';
import type { Holds } from './holds.ts';
import type { Judge } from './judge.ts';

/** The parts of a simulated run that a client's program uses. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly judge: Judge;
  readonly holds: Holds;
  readonly agreements: Agreements;
  readonly writes: GuardedWrites;
  readonly product: Product;
  /** The two queues that clients use in this run. */
  readonly queues: readonly [string, string];
}
