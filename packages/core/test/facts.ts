import { admissionFacts } from './facts/admission.ts';
import { evictionFacts } from './facts/evictions.ts';
import { labelFacts } from './facts/labels.ts';
import { limitFacts } from './facts/limits.ts';
import { multiFacts } from './facts/multi.ts';
import { reentrancyFacts } from './facts/reentrancy.ts';
import { registerFacts } from './facts/registers.ts';
import { requestFacts } from './facts/requests.ts';
import { resumptionFacts } from './facts/export-session.ts';
import type { CoreFact } from './stage.ts';

/** What is true of the core, by subject. */
export const FACTS: Readonly<Record<string, readonly CoreFact[]>> = {
  'several names as one lock': multiFacts,
  'asking the holder to make way': requestFacts,
  'permits and their limit': limitFacts,
  'entering a hold again': reentrancyFacts,
  'going on with a session': resumptionFacts,
  registers: registerFacts,
  'what entries tell': labelFacts,
  'a line that is too long': admissionFacts,
  'removing the entries of others': evictionFacts,
};
