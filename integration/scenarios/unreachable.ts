import { createLockClient, isQueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import type { Site } from './store.ts';
import { soon } from './wait.ts';

const CONNECT_TIMEOUT_MS = 1_000;

/**
 * Expects that a client rejects after a connect timeout of one second, when no server listens at the address.
 * Resolves with the milliseconds until the error.
 */
export async function expectUnreachable(site: Site, endpoint: string): Promise<number> {
  const client = createLockClient(site.backend(endpoint), { connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const start = performance.now();
  const error = await client.acquire('unreachable').catch((reason: unknown) => reason);
  const tookMs = performance.now() - start;
  if (!isQueueLockError(error)) throw error;
  expect(error.code).to.equal('UNAVAILABLE');
  expect(error.message)
    .to.contain(endpoint)
    .and.to.contain(`within ${CONNECT_TIMEOUT_MS} ms (connectTimeoutMs)`);
  expect(tookMs).to.be.at.least(900);
  await soon(client.close(), 'the client closes');
  return tookMs;
}
