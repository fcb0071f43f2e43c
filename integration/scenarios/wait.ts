import { expect } from 'chai';
import { until } from '../services/until.ts';
import type { Site } from './stores.ts';

const SOON_MS = 5_000;

/** The promise; rejects when it takes longer. */
export async function soon<T>(promise: Promise<T>, what: string, withinMs: number = SOON_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${withinMs} ms`)), withinMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Asks again until what it expects is so. */
export async function untilHolds(what: string, expectation: () => Promise<unknown>): Promise<void> {
  await until(expectation, { what, withinMs: SOON_MS });
}

/** Until no entry is left under a lock's name. */
export async function untilNothingIsLeft(site: Site, name: string): Promise<void> {
  await untilHolds(`nothing is left of ${name}`, async () => expect(await site.entries(name)).to.be.empty);
}
