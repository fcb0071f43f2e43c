import type { Fact } from './fact.ts';
import { evictionFacts } from './facts/eviction.ts';
import { livenessFacts } from './facts/liveness.ts';
import { loadFacts } from './facts/load.ts';
import { lookingFacts } from './facts/looking.ts';
import { nameFacts } from './facts/names.ts';
import { orderFacts } from './facts/order.ts';
import { removalFacts } from './facts/removal.ts';
import { readWriteFacts, semaphoreFacts } from './facts/sharing.ts';
import { traceFacts } from './facts/traces.ts';
import { tryFacts } from './facts/trying.ts';

/** Everything that must be true of a backend. */
export const facts: readonly Fact[] = [
  ...orderFacts,
  ...removalFacts,
  ...readWriteFacts,
  ...semaphoreFacts,
  ...tryFacts,
  ...lookingFacts,
  ...livenessFacts,
  ...evictionFacts,
  ...traceFacts,
  ...nameFacts,
  ...loadFacts,
];

/** The titles, in order: what a run of the suite must have reported, no more and no less. */
export const conformanceTitles: readonly string[] = facts.map(({ title }) => title);
