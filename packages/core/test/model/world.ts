import type { MemoryServer } from '@queuelock/memory';
import type * as usersDoor from '../../src/index.ts';
import type { Spoil } from './defects/defect.ts';
import type { Judge } from './judge.ts';
import type { Ledger } from './ledger.ts';
import type { Program } from './program.ts';
import type { Succession } from './succession.ts';
import type { Timeline } from './timeline.ts';

/** The shared objects of a history. */
export interface World {
  readonly core: Core;
  readonly spoil: Spoil | undefined;
  readonly timeline: Timeline;
  readonly server: MemoryServer;
  readonly ledger: Ledger;
  readonly judge: Judge;
  readonly succession: Succession;
  /** The programs of all clients in the order of their starts. */
  readonly programs: Program[];
}

/** The public API of the core under test: that of the real core, or of a copy with a defect. */
export type Core = Pick<typeof usersDoor, 'createLockClient'>;
