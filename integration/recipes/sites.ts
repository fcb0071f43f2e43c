// The tests of packages/recipes are imported by path, because no package exports them.
/* eslint-disable no-restricted-imports */
import { recipeFacts } from '../../packages/recipes/test/facts.ts';
import type { RecipeFacts, Store, StoreLine } from '../../packages/recipes/test/frame.ts';
/* eslint-enable no-restricted-imports */
import type { Backend } from '@queuelock/core';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { Site, Store as Server } from '../scenarios/store.ts';

/** Titles of the tests that wait for the end of a session, which takes a TTL. */
const ENDS_OF_SESSIONS: ReadonlySet<string> = new Set([
  'a reader that was a writer loses its hold with its session',
  'a session that ends removes all entries of its multi-lock',
  'a loss ends all levels of a reentrant hold together',
  'an observer that was cut off shows the old leader as stale, and later the present one',
  'a leader that is cut off stops leading before the next one leads',
  'a leader that is restarted after the TTL joins at the end of the queue',
  'a barrier opens when the client that closed it dies',
  'a member that dies in a double barrier does not keep the other members from leaving',
  'when a cohort loses its hold, its holder is notified and its waiters continue with a new entry',
]);

export const quickFacts = factsThat((title) => !ENDS_OF_SESSIONS.has(title));
export const slowFacts = factsThat((title) => ENDS_OF_SESSIONS.has(title));

function factsThat(isMeant: (title: string) => boolean): readonly RecipeFacts[] {
  return recipeFacts.map(({ recipe, facts }) => ({
    recipe,
    facts: facts.filter(({ title }) => isMeant(title)),
  }));
}

/** Opens a store for the tests of the recipes. */
export async function openStore(server: Server): Promise<Store> {
  const site = await server.share('recipes');
  const { ttlMs, expiryMs } = site;
  return {
    name: server.name,
    ttlMs,
    expiryMs,
    connect: () => site.backend(),
    line: () => lineTo(site),
    leftovers: (queue) => site.entries(queue),
  };
}

async function lineTo(site: Site): Promise<StoreLine> {
  return lineThrough(await startProxy(site.endpoint), (endpoint) => site.backend(endpoint));
}

/** Returns a connection to a store through a proxy. `stop` ends both. */
export function lineThrough(proxy: TcpProxy, connect: (endpoint: string) => Backend): StoreLine {
  return {
    connect: () => connect(proxy.endpoint),
    cut() {
      proxy.refuse();
      proxy.cut();
    },
    mend: () => proxy.heal(),
    stop: () => proxy.stop(),
  };
}
