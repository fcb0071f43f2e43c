// The tests of the package are imported by path, because no package exports them.
// eslint-disable-next-line no-restricted-imports
import { describeRecipes } from '../../packages/recipes/test/frame.ts';
import { stores } from '../scenarios/stores.ts';
import { openStore, slowFacts } from './sites.ts';

for (const store of stores) describeRecipes(store.name, () => openStore(store), slowFacts);
