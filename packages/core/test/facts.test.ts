import { evictionFacts } from './facts/evictions.ts';
import { multiFacts } from './facts/multi.ts';
import { onStage, type CoreFact } from './stage.ts';

const FACTS: Readonly<Record<string, readonly CoreFact[]>> = {
  'several names as one lock': multiFacts,
  'removing the entries of others': evictionFacts,
};

for (const [subject, facts] of Object.entries(FACTS)) {
  describe(subject, () => {
    for (const { title, check } of facts) it(title, () => onStage(check));
  });
}
