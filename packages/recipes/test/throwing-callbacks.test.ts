import { throwingCallbackFacts } from './facts/throwing-callbacks.ts';
import { describeRecipes } from './frame.ts';
import { memoryStore } from './memory-store.ts';

describeRecipes('memory', async () => memoryStore(), [
  { recipe: 'callbacks that throw', facts: throwingCallbackFacts },
]);
