import { expect } from 'chai';
import { fact, type Fact } from '../fact.ts';
import { enterAll, expectNothingLeft, expectOnlyAdmitted, type ContenderTuple } from './line.ts';

/** Facts about entries that take several permits of a semaphore. */
export const permitFacts: readonly Fact[] = [
  fact('permits are taken until none are left, and returned by entries that leave', async (stage) => {
    const limit = 5;
    const line = await enterAll(stage, { limit, permits: 3 }, { limit, permits: 2 }, { limit }, { limit });
    const [three, two, one, last] = line as ContenderTuple<4>;
    await expectOnlyAdmitted(stage, line, [three, two]);
    await three.leave();
    await expectOnlyAdmitted(stage, line, [two, one, last]);
    for (const holder of [two, one, last]) expect(await holder.leave()).to.equal(true);
    await expectNothingLeft(stage, stage.queue);
  }),

  fact(
    'a waiter for many permits at the front is not overtaken by a waiter for fewer permits',
    async (stage) => {
      const limit = 4;
      const line = await enterAll(stage, { limit, permits: 2 }, { limit, permits: 4 }, { limit });
      const [holder, big, small] = line as ContenderTuple<3>;
      await expectOnlyAdmitted(stage, line, [holder]);
      await holder.leave();
      await expectOnlyAdmitted(stage, line, [big]);
      await big.leave();
      await expectOnlyAdmitted(stage, line, [small]);
    },
  ),

  fact(
    'a request for several permits waits until enough are free, whichever holders return them',
    async (stage) => {
      const limit = 4;
      const line = await enterAll(stage, { limit }, { limit, permits: 2 }, { limit }, { limit, permits: 3 });
      const [one, two, other, three] = line as ContenderTuple<4>;
      await expectOnlyAdmitted(stage, line, [one, two, other]);
      await other.leave();
      await expectOnlyAdmitted(stage, line, [one, two]);
      await two.leave();
      await expectOnlyAdmitted(stage, line, [one, three]);
    },
  ),

  fact(
    'when an entry for many permits leaves, the entries for fewer permits behind it are admitted',
    async (stage) => {
      const limit = 3;
      const line = await enterAll(stage, { limit, permits: 2 }, { limit, permits: 3 }, { limit }, { limit });
      const [holder, big, small, last] = line as ContenderTuple<4>;
      await expectOnlyAdmitted(stage, line, [holder]);
      await big.leave();
      await expectOnlyAdmitted(stage, line, [holder, small]);
      await holder.leave();
      await expectOnlyAdmitted(stage, line, [small, last]);
    },
  ),

  fact(
    'a try for several permits is admitted if that many are free, and otherwise leaves no entry',
    async (stage) => {
      const [client, other, third] = await stage.threeClients();
      const two = await client.tryEnter({ limit: 3, permits: 2 });
      expect(two?.admitted).to.equal(true);
      expect(await other.tryEnter({ limit: 3, permits: 2 })).to.equal(undefined);
      const one = await third.tryEnter({ limit: 3 });
      expect(one?.admitted).to.equal(true);
      const watch = await stage.watch();
      await watch.untilKeys(two?.placement.key ?? '', one?.placement.key ?? '');
    },
  ),
];

/**
 * Facts about entries that enter again with another limit of the semaphore, and about entries with different
 * limits in one queue.
 */
export const limitFacts: readonly Fact[] = [
  fact(
    'waiters whose entries are stored again with a higher limit are admitted under it and keep their positions',
    async (stage) => {
      const limit = 2;
      const requests = [{ limit }, { limit }, { limit }, { limit, permits: 2 }, { limit }];
      const line = await enterAll(stage, ...requests);
      const [a, b, c, d, e] = line as ContenderTuple<5>;
      await expectOnlyAdmitted(stage, line, [a, b]);
      for (const waiter of [c, d, e]) await waiter.resize(5);
      await expectOnlyAdmitted(stage, line, [a, b, c, d]);
      const watch = await stage.watch();
      await watch.untilKeys(...line.map(({ placement }) => placement.key));
      await b.leave();
      await expectOnlyAdmitted(stage, line, [a, c, d, e]);
      for (const holder of [a, c, d, e]) expect(await holder.leave()).to.equal(true);
      await expectNothingLeft(stage, stage.queue);
    },
  ),

  fact('a lower limit applies to waiters and does not affect holders', async (stage) => {
    const limit = 3;
    const line = await enterAll(stage, { limit }, { limit }, { limit }, { limit }, { limit });
    const [a, b, c, d, e] = line as ContenderTuple<5>;
    await expectOnlyAdmitted(stage, line, [a, b, c]);
    for (const waiter of [d, e]) await waiter.resize(2);
    await expectOnlyAdmitted(stage, line, [a, b, c]);
    await a.leave();
    await expectOnlyAdmitted(stage, line, [b, c]);
    await b.leave();
    await expectOnlyAdmitted(stage, line, [c, d]);
    await c.leave();
    await expectOnlyAdmitted(stage, line, [d, e]);
  }),

  fact('a holder that enters again with a lower limit keeps its position and its hold', async (stage) => {
    const [client, other] = await stage.threeClients();
    const [first, holder] = [await client.enter({ limit: 2 }), await other.enter({ limit: 2 })];
    const waiter = await client.enter({ limit: 2 });
    holder.requirePlace(await other.enqueue({ ...holder.spec, limit: 1 }));
    await expectOnlyAdmitted(stage, [first, holder, waiter], [first, holder]);
    expect(await holder.leave()).to.equal(true);
    await waiter.untilAdmitted();
  }),

  fact(
    'the reply to an enqueue contains the limit of an entry ahead, if it differs from the limit of the new entry',
    async (stage) => {
      const client = await stage.client();
      const pairs = [
        [{ limit: 3 }, { limit: 2 }],
        [{ limit: 1 }, { limit: 4 }],
        [{ limit: 4 }, { limit: 1 }],
        [
          { limit: 5, permits: 5 },
          { limit: 3, permits: 2 },
        ],
      ] as const;
      for (const [ahead, behind] of pairs) {
        const first = await client.enter(ahead);
        const second = await client.enter(behind);
        expect(second.placement.otherLimit, `${behind.limit} behind ${ahead.limit}`).to.equal(ahead.limit);
        await second.leave();
        await first.leave();
      }
    },
  ),

  fact(
    'the reply to an enqueue with a limit above 1 behind a reader contains the limit 1, which every reader has',
    async (stage) => {
      const client = await stage.client();
      const reader = await client.enter({ shared: true });
      const first = await client.enter({ limit: 5 });
      expect(first.placement.otherLimit).to.equal(1);
      const second = await client.enter({ limit: 5 });
      expect(second.placement.otherLimit, 'while the one that was refused is still there').to.equal(1);
      for (const entry of [second, first, reader]) await entry.leave();
    },
  ),

  fact(
    'the reply to an enqueue contains no limit of an entry ahead if all limits are equal, or if a reader enters',
    async (stage) => {
      const client = await stage.client();
      const requests = [{ limit: 2 }, { limit: 2, permits: 2 }, { limit: 2 }];
      for (const request of requests)
        expect((await client.enter(request)).placement.otherLimit).to.equal(undefined);
      const queue = `${stage.queue}-readers`;
      await client.enter({ queue, shared: true });
      expect((await client.enter({ queue })).placement.otherLimit).to.equal(undefined);
      expect((await client.enter({ queue, shared: true })).placement.otherLimit).to.equal(undefined);
      const slots = `${stage.queue}-slots`;
      await client.enter({ queue: slots, limit: 3 });
      expect((await client.enter({ queue: slots, shared: true })).placement.otherLimit).to.equal(undefined);
    },
  ),
];
