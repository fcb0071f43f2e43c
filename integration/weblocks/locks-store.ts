// The tests of packages/weblocks are imported by path, because no package exports them.
/* eslint-disable no-restricted-imports */
import { lockFacts } from '../../packages/weblocks/test/facts.ts';
import type { Facts, Store } from '../../packages/weblocks/test/frame.ts';
/* eslint-enable no-restricted-imports */
import type { Store as Server } from '../scenarios/store.ts';

/**
 * Groups of tests whose result depends on the store. All other groups test only the lock manager, and have
 * the same result on every store.
 */
const SHORT: ReadonlySet<string> = new Set(['holding', 'ifAvailable', 'the lifetime of a manager']);
/** Title of a test that waits for a TTL. */
const DEATH = 'the lock of a client that dies passes to the next waiter, and a waiter that dies is skipped';

export const shortFacts = factsThat((about, title) => SHORT.has(about) && title !== DEATH);
export const otherFacts = factsThat((about, title) => !SHORT.has(about) || title === DEATH);

function factsThat(areMeant: (about: string, title: string) => boolean): readonly Facts[] {
  return lockFacts.map(({ about, facts }) => ({
    about,
    facts: facts.filter(({ title }) => areMeant(about, title)),
  }));
}

/** Opens a store for the tests of web locks. */
export async function openStore(server: Server): Promise<Store> {
  const site = await server.share('web locks');
  return { name: server.name, ttlMs: site.ttlMs, expiryMs: site.expiryMs, connect: () => site.backend() };
}
