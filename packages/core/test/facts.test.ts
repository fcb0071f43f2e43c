// Checks statements ("facts") about each feature of the core: when sessions end, replies are lost, other
// clients interfere and clients close. `facts.long.ts` shows that each fact can fail.
import { FACTS } from './facts.ts';
import { onStage } from './stage.ts';

for (const [subject, facts] of Object.entries(FACTS)) {
  describe(subject, () => {
    for (const { title, check } of facts) it(title, () => onStage(check));
  });
}
