import { expect } from 'chai';
import { isQueueLockError, type EntrySpec, type Placement } from '@queuelock/core/backend';
import type { Contender } from '../contender.ts';
import type { Fact } from '../fact.ts';
import { expectNothingLeft, expectOnlyAdmitted } from './line.ts';
import { inAll, togetherFact } from './together.ts';

/**
 * Resolves with the result of a call that enters several queues. Resolves with `undefined` if the call
 * rejects because one of its entries was removed before it was added.
 */
function unlessRemoved(sent: Promise<readonly Placement[]>): Promise<readonly Placement[] | undefined> {
  return sent.catch((error: unknown) => {
    if (!isQueueLockError(error, 'ENTRY_LOST')) throw error;
    return undefined;
  });
}

/** Facts about the removal of entries with which a client enters several queues in one call. */
export const togetherRemovalFacts: readonly Fact[] = [
  togetherFact('entries that entered together are removed one by one', async (stage, queues) => {
    const [client, other] = await stage.threeClients();
    const held = await client.enterAll(...inAll(queues));
    const waiting = await other.enterAll(...inAll(queues));
    for (const [place, entry] of held.entries()) {
      expect(await entry.leave()).to.equal(true);
      expect(await entry.leave()).to.equal(false);
      await expectOnlyAdmitted(stage, waiting, waiting.slice(0, place + 1));
    }
    for (const entry of waiting) expect(await entry.leave()).to.equal(true);
    await expectNothingLeft(stage, ...queues);
  }),

  ...(['remove', 'enqueueAll'] as const).map((first) =>
    togetherFact(
      `ids removed while they enter together never appear (response to ${first} awaited first)`,
      async (stage, queues) => {
        const [client, other] = await stage.threeClients();
        const specs = inAll(queues).map((part) => client.newSpec(part));
        const sent = unlessRemoved(client.enqueueAll(specs));
        const removed = Promise.all(specs.map(({ queue, id }) => client.remove(queue, id)));
        for (const response of first === 'remove' ? [removed, sent] : [sent, removed]) await response;
        const newcomers = await other.enterAll(...inAll(queues));
        for (const newcomer of newcomers) {
          await (await stage.watch(newcomer.queue)).untilKeys(newcomer.placement.key);
          await newcomer.untilAdmitted();
        }
      },
    ),
  ),

  togetherFact(
    'one id removed while several enter together never appears, and if none entered, none is left',
    async (stage, queues) => {
      const client = await stage.client();
      const specs = inAll(queues).map((part) => client.newSpec(part));
      const [removed, ...others] = specs as [EntrySpec, ...EntrySpec[]];
      const sent = unlessRemoved(client.enqueueAll(specs));
      await client.remove(removed.queue, removed.id);
      const entered = await sent;
      await expectNothingLeft(stage, removed.queue);
      for (const { queue, id } of others) {
        expect(await client.remove(queue, id), queue).to.equal(entered !== undefined);
      }
      await expectNothingLeft(stage, ...queues);
    },
  ),

  togetherFact(
    'the removal of one entry by an operator is the loss of all when they enter again',
    async (stage, queues) => {
      const client = await stage.client();
      const entries = await client.enterAll(...inAll(queues));
      for (const entry of entries) entry.giveUp();
      await stage.evict(entries[1] as Contender);
      const again = client.enqueueAll(entries.map(({ spec }) => spec));
      const refusal = await again.catch((error: unknown) => error);
      expect(refusal).to.have.property('code', 'ENTRY_LOST');
      await expectNothingLeft(stage, ...queues);
    },
    ['together', 'evict'],
  ),
];
