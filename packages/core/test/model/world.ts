import type { MemoryServer } from '@queuelock/memory';
import type * as usersDoor from '../../src/index.ts';
import type { Spoil } from './defects/defect.ts';
import type { Judge } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Program } from './program.ts';
import type { Succession } from './succession.ts';
import type { Timeline } from './timeline.ts';

/** What everybody in a history shares. */
export interface World {
  readonly core: Core;
  readonly spoil: Spoil | undefined;
  readonly timeline: Timeline;
  readonly server: MemoryServer;
  readonly ledger: Ledger;
  readonly judge: Judge;
  readonly succession: Succession;
  /** Of all clients, in the order in which they started. */
  readonly programs: Program[];
}

/** The users' door of the core that is looked at: the real one, or one with a defect. */
export type Core = Pick<typeof usersDoor, 'createLockClient'>;
