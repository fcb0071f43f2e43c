import type { MemoryServer } from '@queuelock/memory';
import type * as usersDoor from '../../src/index.ts';
import type { Spoil } from './defects/defect.ts';
import type { Judge } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Program } from './program.ts';
import type { Succession } from './succession.ts';
import type { Timeline } from './timeline.ts';

/** The objects that all clients of one history share, such as the server and the virtual time (`timeline`). */
export interface World {
  readonly core: Core;
  readonly spoil: Spoil | undefined;
  readonly timeline: Timeline;
  readonly server: MemoryServer;
  readonly ledger: Ledger;
  readonly judge: Judge;
  readonly succession: Succession;
  /** The simulated programs of all clients, in the order in which they started. */
  readonly programs: Program[];
}

/**
 * The part of the core's public API that the model uses, from the real core or from a copy with a seeded
 * defect.
 */
export type Core = Pick<typeof usersDoor, 'createLockClient'>;
