import { expect } from 'chai';
import { within } from '../chaos/deadline.ts';
import { until } from '@queuelock/harness/services/until';
import type { Site } from './store.ts';

// Time limit of a wait for a result in milliseconds. It is less than the TTL (10 s), so a result that comes
// only when a session expires is too late.
const SOON_MS = 9_000;

/**
 * Resolves with the promise's result. Rejects when it takes longer than `withinMs`, not counting time in
 * which this process was stopped.
 */
export async function soon<T>(promise: Promise<T>, what: string, withinMs: number = SOON_MS): Promise<T> {
  return within(withinMs, promise, what);
}

/** Calls `expectation` repeatedly until it does not reject any more. Rejects when that takes too long. */
export async function untilHolds(
  what: string,
  expectation: () => Promise<unknown>,
  withinMs: number = SOON_MS,
): Promise<void> {
  await until(expectation, { what, withinMs });
}

/** Resolves when the queue of the lock has no entry. */
export async function untilNothingIsLeft(site: Site, name: string): Promise<void> {
  await untilHolds(`nothing is left of ${name}`, async () => expect(await site.entries(name)).to.be.empty);
}
