import { argumentFacts } from './facts/arguments.ts';
import { holdingFacts } from './facts/holding.ts';
import { ifAvailableFacts } from './facts/if-available.ts';
import { lifeFacts } from './facts/life.ts';
import { nameFacts } from './facts/names.ts';
import { queryFacts } from './facts/query.ts';
import { signalFacts } from './facts/signal.ts';
import { stealFacts } from './facts/steal.ts';
import type { Facts } from './frame.ts';

/** Tests of web locks that must pass on every store. */
export const lockFacts: readonly Facts[] = [
  argumentFacts,
  holdingFacts,
  ifAvailableFacts,
  signalFacts,
  stealFacts,
  queryFacts,
  nameFacts,
  lifeFacts,
];
