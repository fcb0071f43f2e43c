// The tests of the package are imported by path, because no package exports them.
// eslint-disable-next-line no-restricted-imports
import { describeLocks } from '../../packages/weblocks/test/frame.ts';
import { stores } from '../scenarios/stores.ts';
import { openStore, shortFacts } from './locks-store.ts';

for (const store of stores) describeLocks(store.name, () => openStore(store), shortFacts);
