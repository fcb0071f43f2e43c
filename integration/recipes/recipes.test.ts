// The facts are tests and no package exports them.
/* eslint-disable no-restricted-imports */
import { recipeFacts } from '../../packages/recipes/test/facts.ts';
import { describeRecipes, type Store, type StoreLine } from '../../packages/recipes/test/frame.ts';
/* eslint-enable no-restricted-imports */
import { startProxy } from '../faults.ts';
import { stores, type Site } from '../scenarios/stores.ts';

for (const store of stores) {
  describeRecipes(store.name, async () => storeAt(store.name, await store.share('recipes')), recipeFacts);
}

function storeAt(name: string, site: Site): Store {
  const { ttlMs, expiryMs } = site;
  return {
    name,
    ttlMs,
    expiryMs,
    connect: () => site.backend(),
    line: () => lineTo(site),
    leftovers: (queue) => site.entries(queue),
  };
}

async function lineTo(site: Site): Promise<StoreLine> {
  const proxy = await startProxy(site.endpoint);
  return {
    connect: () => site.backend(proxy.endpoint),
    cut() {
      proxy.refuse();
      proxy.cut();
    },
    mend: () => proxy.heal(),
    stop: () => proxy.stop(),
  };
}
