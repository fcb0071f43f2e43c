import { expect } from 'chai';
import { fact, type Fact } from '../fact.ts';
import { expectOnlyAdmitted } from './line.ts';

/** Facts about `tryEnqueue`, which enters a queue only if the entry is admitted at once. */
export const tryFacts: readonly Fact[] = [
  fact('a try on a busy queue returns undefined and leaves no entry', async (stage) => {
    const [holding, waiting, trying] = await stage.threeClients();
    const holder = await holding.enter();
    const waiter = await waiting.enter();
    const watch = await stage.watch();
    await watch.untilKeys(holder.placement.key, waiter.placement.key);
    expect(await trying.tryEnter()).to.equal(undefined);
    await stage.settle();
    await watch.untilKeys(holder.placement.key, waiter.placement.key);
    await holder.leave();
    await expectOnlyAdmitted(stage, [holder, waiter], [waiter]);
  }),

  fact('a try on a free queue is admitted, and its entry holds like any other', async (stage) => {
    const [trying, waiting] = await stage.threeClients();
    const holder = await trying.tryEnter();
    expect(holder?.placement.turn.admitted).to.equal(true);
    if (!holder) return;
    const waiter = await waiting.enter();
    await expectOnlyAdmitted(stage, [holder, waiter], [holder]);
    await holder.leave();
    await expectOnlyAdmitted(stage, [holder, waiter], [waiter]);
  }),

  fact('of several concurrent tries exactly one is admitted', async (stage) => {
    const clients = [...(await stage.threeClients()), await stage.client()];
    const responses = await Promise.all(clients.map((client) => client.tryEnter()));
    expect(responses.filter((contender) => contender !== undefined)).to.have.length(1);
  }),

  fact(
    'a shared try is admitted beside a reader that holds, but not behind a waiting writer',
    async (stage) => {
      const [reading, writing, trying] = await stage.threeClients();
      const reader = await reading.enter({ shared: true });
      const friend = await trying.tryEnter({ shared: true });
      expect(friend?.admitted).to.equal(true);
      const writer = await writing.enter();
      expect(await trying.tryEnter({ shared: true })).to.equal(undefined);
      await reader.leave();
      await friend?.leave();
      await writer.untilAdmitted();
    },
  ),

  fact('a try on a semaphore is admitted while a permit is free', async (stage) => {
    const [client, other] = await stage.threeClients();
    const one = await client.tryEnter({ limit: 2 });
    const two = await other.tryEnter({ limit: 2 });
    expect([one?.admitted, two?.admitted]).to.deep.equal([true, true]);
    expect(await client.tryEnter({ limit: 2 })).to.equal(undefined);
    await one?.leave();
    expect((await client.tryEnter({ limit: 2 }))?.admitted).to.equal(true);
  }),

  fact('tries never delay the waiters of a queue', async (stage) => {
    const [holding, waiting, trying] = await stage.threeClients();
    const holder = await holding.enter();
    const waiter = await waiting.enter();
    const tries = Promise.all(Array.from({ length: 10 }, () => trying.tryEnter()));
    await holder.leave();
    await waiter.untilAdmitted();
    expect((await tries).filter((contender) => contender !== undefined)).to.deep.equal([]);
    await waiter.leave();
    const watch = await stage.watch();
    await watch.until('an empty queue', (entries) => entries.length === 0);
  }),
];
