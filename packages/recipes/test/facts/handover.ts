import type { HandoverRequest } from '@queuelock/core';
import { expect } from 'chai';
import type { RecipeFact, Site } from '../frame.ts';
import { join, type Joined } from '../join.ts';

const REQUEST = { reason: 'a deployment waits', withinMs: 60_000 };

interface Scene {
  readonly holder: Joined;
  readonly between: Joined;
  readonly requester: Joined;
  readonly request: HandoverRequest;
}

/**
 * Creates three clients: a holder, a waiter, and a second waiter. The second waiter requests the lock from
 * the holder.
 */
async function sendRequest({ client, queue, follow, until }: Site): Promise<Scene> {
  const holder = await join(client({ owner: 'holder' }), queue, { metadata: { data: 'of the holder' } });
  const requests = follow((await holder.held).requests$);
  const between = await join(client(), queue);
  const requester = await join(client({ owner: 'deployer' }), queue, { request: REQUEST });
  await until('the request arrives', () => requests.values.length === 1);
  return { holder, between, requester, request: requests.values[0]! };
}

async function finish(...line: readonly Joined[]): Promise<void> {
  for (const place of line) await (await place.held).release();
}

export const handoverFacts: readonly RecipeFact[] = [
  {
    title: 'a handover request reaches the holder, its refusal reaches the requester, and no hold is lost',
    async check(site) {
      const { holder, between, requester, request } = await sendRequest(site);
      expect(request).to.include(REQUEST);
      expect(request.from).to.include({ owner: 'deployer' });
      await request.decline('in the middle of a payment');
      await site.until('the answer arrives', () => requester.queued?.answer !== undefined);
      expect(requester.queued?.answer).to.deep.equal({
        answer: 'declined',
        reason: 'in the middle of a payment',
      });
      const seen = site.follow(site.client().watch(site.queue));
      await site.until(
        'the entry of the holder keeps its metadata',
        () => seen.last?.entries[0]?.metadata['data'] === 'of the holder',
      );
      expect(holder.ownership?.held).to.equal(true);
      await finish(holder, between, requester);
    },
  },
  {
    title: 'a holder that responds with yieldToQueue is followed by the next waiter',
    async check(site) {
      const { between, requester, request } = await sendRequest(site);
      await request.yieldToQueue();
      await between.held;
      expect(
        requester.states.some((state) => state.status === 'queued' && state.answer?.answer === 'yields'),
      ).to.equal(true);
      expect(requester.ownership).to.equal(undefined);
      await finish(between, requester);
    },
  },
  {
    title: 'a holder that responds with yieldToRequester is followed by the requester',
    async check(site) {
      const { between, requester, request } = await sendRequest(site);
      await request.yieldToRequester();
      const own = await requester.held;
      expect(between.ownership).to.equal(undefined);
      await own.release();
      const after = await between.held;
      expect(after.token > own.token).to.equal(true);
      await after.release();
      await site
        .client()
        .register(site.queue, 'evictions')
        .change(() => undefined);
    },
  },
  {
    title: 'a handover request without a response within withinMs counts as ignored, and the wait continues',
    async check({ client, queue, until }) {
      const holder = await join(client(), queue);
      const requester = await join(client(), queue, { request: { reason: 'hello?', withinMs: 50 } });
      await until('it is ignored', () => requester.queued?.answer?.answer === 'ignored');
      await finish(holder, requester);
    },
  },
  {
    title: 'each holder receives the handover request of a waiter once',
    async check(site) {
      const { holder, between, requester, request } = await sendRequest(site);
      await request.decline('no');
      await site.until('answered', () => requester.queued?.answer !== undefined);
      await finish(holder);
      const requests = site.follow((await between.held).requests$);
      await site.until('the next holder hears of it', () => requests.values.length === 1);
      await requests.values[0]?.decline('neither');
      await site.until('answered again', () => requester.queued?.answer?.reason === 'neither');
      expect(requests.values).to.have.length(1);
      await finish(between);
      await site.until('the stream ends with the hold', () => requests.end === 'complete');
      await finish(requester);
    },
  },
];
