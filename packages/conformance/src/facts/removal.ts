import { expect } from 'chai';
import { isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { Client } from '../client.ts';
import { fact, type Fact } from '../fact.ts';
import type { Stage } from '../stage.ts';
import { expectOnlyAdmitted } from './line.ts';

/**
 * Sends a request that enters a queue with a new id, and directly afterwards a request that removes that id.
 * Waits for both responses, first for that of the request which `first` names.
 */
async function overtake(
  client: Client,
  first: 'remove' | 'enqueue',
  send: (spec: EntrySpec) => Promise<unknown>,
): Promise<void> {
  const spec = client.newSpec();
  const sent = send(spec).catch((error: unknown) => {
    if (!isQueueLockError(error, 'ENTRY_LOST')) throw error;
  });
  const removed = client.remove(spec.queue, spec.id);
  const responses = first === 'remove' ? [removed, sent] : [sent, removed];
  for (const response of responses) await client.stage.board.within('an overtaken call answers', response);
}

/**
 * Expects that the queue contains exactly the entries with these keys. Enters one more entry, which must come
 * directly behind them.
 */
async function nothingElse(stage: Stage, client: Client, ...keys: readonly string[]): Promise<void> {
  const newcomer = await client.enter();
  const watch = await stage.watch();
  await watch.untilKeys(...keys, newcomer.placement.key);
  if (keys.length === 0) await newcomer.untilAdmitted();
}

const WHICHEVER = ['remove', 'enqueue'] as const;

/** Facts about the removal of an entry, after which it never appears again. */
export const removalFacts: readonly Fact[] = [
  fact('a removal returns true once and false after that', async (stage) => {
    const client = await stage.client();
    const contender = await client.enter();
    expect(await contender.leave()).to.equal(true);
    expect(await contender.leave()).to.equal(false);
  }),

  fact('the removal of an entry id that was never in the queue returns false', async (stage) => {
    const [client, other] = await stage.threeClients();
    await other.enter();
    expect(await client.remove(stage.queue, client.newSpec().id)).to.equal(false);
  }),

  fact(
    'a session neither changes nor removes the entry of another session whose id it knows',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const holder = await client.enter();
      const { queue, id } = holder.spec;
      expect(await other.session.update(queue, id, 'changed')).to.equal(false);
      expect(await other.remove(queue, id)).to.equal(false);
      const waiter = await other.enter();
      await expectOnlyAdmitted(stage, [holder, waiter], [holder]);
    },
  ),

  fact('entering a queue twice with one id adds one entry', async (stage) => {
    const [client, other] = await stage.threeClients();
    const holder = await client.enter();
    const waiter = await other.enter();
    for (const [owner, { spec, placement }] of [
      [client, holder],
      [other, waiter],
    ] as const) {
      const again = await owner.session.enqueue(spec);
      const { order, token, key } = again;
      expect({ order, token, key }).to.deep.equal({
        order: placement.order,
        token: placement.token,
        key: placement.key,
      });
    }
    const watch = await stage.watch();
    await watch.untilFirst();
    expect(watch.keys).to.deep.equal([holder.placement.key, waiter.placement.key]);
    await holder.leave();
    await waiter.untilAdmitted();
  }),

  ...WHICHEVER.map((first) =>
    fact(
      `an id that is removed while its enqueue is in flight never appears in the queue (response to ${first} awaited first)`,
      async (stage) => {
        const [client, other] = await stage.threeClients();
        await overtake(client, first, (spec) => client.session.enqueue(spec));
        await nothingElse(stage, other);
      },
    ),
  ),

  fact('an id that is removed while it joins behind a holder never appears in the queue', async (stage) => {
    const [client, other] = await stage.threeClients();
    const holder = await other.enter();
    for (const first of WHICHEVER) await overtake(client, first, (spec) => client.session.enqueue(spec));
    await nothingElse(stage, other, holder.placement.key);
  }),

  fact(
    'an id that is removed while its tryEnqueue is in flight never appears in the queue',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      for (const first of WHICHEVER) await overtake(client, first, (spec) => client.session.tryEnqueue(spec));
      await nothingElse(stage, other);
    },
  ),

  fact('an id that is removed after it entered twice never appears in the queue again', async (stage) => {
    const [client, other] = await stage.threeClients();
    const spec = client.newSpec();
    await client.session.enqueue(spec);
    const again = client.session.enqueue(spec).catch((error: unknown) => {
      if (!isQueueLockError(error, 'ENTRY_LOST')) throw error;
    });
    expect(await client.remove(spec.queue, spec.id)).to.equal(true);
    await again;
    await nothingElse(stage, other);
  }),

  fact('an entry keeps its position while no client subscribes to its turns', async (stage) => {
    const clients = await stage.threeClients();
    const [holder, quiet, last] = [
      await clients[0].enter(),
      await clients[1].enter(),
      await clients[2].enter(),
    ];
    quiet.unfollow();
    await holder.leave();
    await expectOnlyAdmitted(stage, [holder, quiet, last], []);
    const watch = await stage.watch();
    await watch.untilKeys(quiet.placement.key, last.placement.key);
    expect(await quiet.leave()).to.equal(true);
    await expectOnlyAdmitted(stage, [holder, quiet, last], [last]);
  }),

  fact('nothing is left in the store after all entries have left', async (stage) => {
    const [stays, leaves, closes] = await stage.threeClients();
    const watch = await stage.watch();
    const holder = await stays.enter();
    const waiters = [await leaves.enter(), await closes.enter(), await stays.enter({ shared: true })];
    await stays.tryEnter();
    await waiters[0]?.leave();
    await closes.close();
    await holder.leave();
    await waiters[2]?.untilAdmitted();
    await waiters[2]?.leave();
    await watch.until('an empty queue', (entries) => entries.length === 0);
    expect((await stage.harness.entries?.(stage.queue)) ?? []).to.deep.equal([]);
  }),
];
