import type { Fact } from './fact.ts';
import { backendEvictionFacts } from './facts/backend-eviction.ts';
import { downgradeFacts } from './facts/downgrade.ts';
import { evictionFacts } from './facts/eviction.ts';
import { livenessFacts } from './facts/liveness.ts';
import { loadFacts } from './facts/load.ts';
import { observingFacts } from './facts/looking.ts';
import { nameFacts } from './facts/names.ts';
import { orderFacts } from './facts/order.ts';
import { limitFacts, permitFacts } from './facts/permits.ts';
import { queueListFacts } from './facts/queue-list.ts';
import { registerFacts } from './facts/registers.ts';
import { removalFacts } from './facts/removal.ts';
import { resumptionFacts } from './facts/resuming.ts';
import { sameEntryFacts } from './facts/same-entry.ts';
import { readWriteFacts, semaphoreFacts } from './facts/sharing.ts';
import { togetherRemovalFacts } from './facts/together-removal.ts';
import { togetherFacts } from './facts/together.ts';
import { traceFacts } from './facts/traces.ts';
import { tryFacts } from './facts/trying.ts';

/** The facts that must hold for every backend. */
export const facts: readonly Fact[] = [
  ...orderFacts,
  ...removalFacts,
  ...readWriteFacts,
  ...semaphoreFacts,
  ...permitFacts,
  ...limitFacts,
  ...tryFacts,
  ...observingFacts,
  ...livenessFacts,
  ...evictionFacts,
  ...backendEvictionFacts,
  ...traceFacts,
  ...togetherFacts,
  ...togetherRemovalFacts,
  ...downgradeFacts,
  ...registerFacts,
  ...resumptionFacts,
  ...sameEntryFacts,
  ...queueListFacts,
  ...nameFacts,
  ...loadFacts,
];

/**
 * The titles of all facts, in the order of the tests. A complete run of the suite reports exactly these
 * titles.
 */
export const conformanceTitles: readonly string[] = facts.map(({ title }) => title);

/**
 * Returns the facts with these titles, for a test that runs only some of them.
 * @param titles exact titles
 * @throws {Error} if no fact has one of the titles, so that a renamed fact is not skipped silently
 */
export function factsWithTitles(...titles: readonly string[]): readonly Fact[] {
  return titles.map((title) => {
    const found = facts.find((fact) => fact.title === title);
    if (!found) throw new Error(`no fact has the title "${title}"`);
    return found;
  });
}
