import { expect } from 'chai';
import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import type { Stage } from '../stage.ts';
import { enterAll, expectNothingLeft, expectOnlyAdmitted, type ContenderTuple } from './line.ts';

const READER = { shared: true };
const WRITER = { shared: false };

function sharingFact(title: string, play: (stage: Stage) => Promise<void>): Fact {
  return fact(title, play, ['sharing']);
}

/** Converts a writer's admitted entry to a shared one. */
async function share(holder: Contender, value = 'reads'): Promise<void> {
  await holder.untilAdmitted();
  expect(await holder.share(value)).to.equal(true);
}

/** Facts about a writer that becomes a reader, while no other writer is admitted in between. */
export const downgradeFacts: readonly Fact[] = [
  sharingFact(
    'a writer that becomes a reader admits the readers behind it, up to the next writer',
    async (stage) => {
      const line = await enterAll(stage, WRITER, READER, READER, WRITER, READER);
      const [holder, one, two] = line as ContenderTuple<5>;
      await share(holder);
      await expectOnlyAdmitted(stage, line, [holder, one, two]);
    },
  ),

  sharingFact(
    'the next writer waits for a writer that became a reader and for all readers',
    async (stage) => {
      const line = await enterAll(stage, WRITER, READER, WRITER, READER);
      const [holder, reader, writer, last] = line as ContenderTuple<4>;
      await share(holder);
      await reader.leave();
      await expectOnlyAdmitted(stage, line, [holder]);
      await holder.leave();
      await expectOnlyAdmitted(stage, line, [writer]);
      await writer.leave();
      await expectOnlyAdmitted(stage, line, [last]);
    },
  ),

  sharingFact('entries that join later see a reader in a writer that became one', async (stage) => {
    const [client, other, third] = await stage.threeClients();
    const holder = await client.enter();
    await share(holder);
    const reader = await other.enter(READER);
    const tried = await third.tryEnter(READER);
    expect(tried?.admitted).to.equal(true);
    expect(await third.tryEnter()).to.equal(undefined);
    const writer = await third.enter();
    await expectOnlyAdmitted(stage, [holder, reader, writer], [holder, reader]);
    for (const one of [reader, tried]) await one?.leave();
    await expectOnlyAdmitted(stage, [holder, reader, writer], [holder]);
    await holder.leave();
    await writer.untilAdmitted();
  }),

  sharingFact('a writer that becomes a reader keeps its position and shows the new value', async (stage) => {
    const line = await enterAll(stage, WRITER, WRITER);
    const [holder, waiter] = line as ContenderTuple<2>;
    const watch = await stage.watch();
    await watch.untilKeys(...line.map(({ placement }) => placement.key));
    await share(holder, 'shows that it reads');
    await watch.until('the new value', ([first]) => first?.value === 'shows that it reads');
    expect(watch.entries.map(({ order }) => order)).to.deep.equal([holder.order, waiter.order]);
    // No snapshot shows the converted entry twice, once as exclusive and once as shared.
    for (const snapshot of watch.seen) expect(snapshot.length).to.be.at.most(2);
  }),

  sharingFact('becoming a reader twice has the same effect as once', async (stage) => {
    const line = await enterAll(stage, WRITER, READER, WRITER);
    const [holder, reader] = line as ContenderTuple<3>;
    await holder.untilAdmitted();
    const both = Promise.all([holder.share('one'), holder.share('two')]);
    expect(await both, 'at the same time').to.deep.equal([true, true]);
    await share(holder, 'three');
    await expectOnlyAdmitted(stage, line, [holder, reader]);
    const watch = await stage.watch();
    const orders = line.map(({ order }) => order);
    await watch.until('three entries and the last value', (entries) => {
      return entries.map(({ order }) => order).join() === orders.join() && entries[0]?.value === 'three';
    });
  }),

  sharingFact('an entry that is not in the queue cannot become a reader', async (stage) => {
    const [client, other] = await stage.threeClients();
    expect(await client.share(stage.queue, client.newSpec().id, 'nobody')).to.equal(false);
    const holder = await client.enter();
    const waiter = await other.enter();
    await holder.leave();
    expect(await client.share(stage.queue, holder.spec.id, 'gone')).to.equal(false);
    await waiter.untilAdmitted();
    await (await stage.watch()).untilKeys(waiter.placement.key);
  }),

  sharingFact('a writer that became a reader can be updated, and leaves nothing behind', async (stage) => {
    const [client, other] = await stage.threeClients();
    const holder = await client.enter();
    const reader = await other.enter(READER);
    await share(holder);
    await reader.untilAdmitted();
    expect(await client.session.update(stage.queue, holder.spec.id, 'still reads')).to.equal(true);
    const watch = await stage.watch();
    await watch.until('the updated value', ([first]) => first?.value === 'still reads');
    expect(await holder.leave()).to.equal(true);
    expect(await holder.leave()).to.equal(false);
    await watch.untilKeys(reader.placement.key);
    await reader.leave();
    await expectNothingLeft(stage, stage.queue);
  }),

  sharingFact('entering again after having become a reader adds no second entry', async (stage) => {
    const [client, other] = await stage.threeClients();
    const holder = await client.enter();
    await share(holder);
    const again = await client.enqueue({ ...holder.spec, ...READER });
    expect(again.order).to.equal(holder.order);
    const waiter = await other.enter();
    const watch = await stage.watch();
    await watch.untilFirst();
    expect(watch.entries.map(({ order }) => order)).to.deep.equal([holder.order, waiter.order]);
    await holder.leave();
    await waiter.untilAdmitted();
  }),

  sharingFact('the end of the session removes a writer that became a reader', async (stage) => {
    const [client, other] = await stage.threeClients();
    const holder = await client.enter();
    const waiter = await other.enter();
    await share(holder);
    await client.close();
    await waiter.untilAdmitted();
    await waiter.leave();
    await expectNothingLeft(stage, stage.queue);
  }),

  fact(
    'a writer that became a reader is notified when an operator removes its entry',
    async (stage) => {
      const line = await enterAll(stage, WRITER, WRITER);
      const [holder, waiter] = line as ContenderTuple<2>;
      await share(holder);
      const watch = await stage.watch();
      await watch.until('two entries', (entries) => entries.length === 2 && entries[0]?.value === 'reads');
      holder.giveUp();
      await stage.harness.evict?.(watch.keys[0] ?? '');
      expect(await holder.untilLost()).to.equal('ENTRY_LOST');
      await waiter.untilAdmitted();
      expect(await holder.leave()).to.equal(false);
    },
    ['sharing', 'evict'],
  ),
];
