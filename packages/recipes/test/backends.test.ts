import { recipeFacts } from './facts.ts';
import { describeRecipes } from './frame.ts';
import { memoryStore } from './memory-store.ts';

describeRecipes('memory', async () => memoryStore(), recipeFacts);
