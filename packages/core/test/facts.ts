import { admissionFacts } from './facts/admission.ts';
import { evictionFacts } from './facts/evictions.ts';
import { labelFacts } from './facts/labels.ts';
import { limitFacts } from './facts/limits.ts';
import { multiFacts } from './facts/multi.ts';
import { reentrancyFacts } from './facts/reentrancy.ts';
import { recordedHoldFacts } from './facts/recorded-holds.ts';
import { registerFacts } from './facts/registers.ts';
import { requestFacts } from './facts/requests.ts';
import { resumptionFacts } from './facts/export-session.ts';
import type { CoreFact } from './stage.ts';

/** The statements about the core that the tests check, by feature. */
export const FACTS: Readonly<Record<string, readonly CoreFact[]>> = {
  'a multi-lock': multiFacts,
  'a request to the holder': requestFacts,
  'permits and their limit': limitFacts,
  'the re-entry of a hold': reentrancyFacts,
  'a resumed session': resumptionFacts,
  registers: registerFacts,
  'the record of holds': recordedHoldFacts,
  'the label of an entry': labelFacts,
  'a queue that is too long': admissionFacts,
  'the eviction of entries': evictionFacts,
};
