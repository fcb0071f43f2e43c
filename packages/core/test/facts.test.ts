// What is true of each feature when sessions die, answers are lost, others come in between and clients close; that each of
// these facts tells is asked by facts.long.ts.
import { FACTS } from './facts.ts';
import { onStage } from './stage.ts';

for (const [subject, facts] of Object.entries(FACTS)) {
  describe(subject, () => {
    for (const { title, check } of facts) it(title, () => onStage(check));
  });
}
