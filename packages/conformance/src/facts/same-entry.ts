import { expect } from 'chai';
import type { EntrySpec } from '@queuelock/core/backend';
import type { Client } from '../client.ts';
import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import type { Stage } from '../stage.ts';
import { expectOnlyAdmitted } from './line.ts';
import { definiteCode } from './liveness.ts';

/** Resolves with the error code when a client enters again with the id of an entry but another spec. */
function codeOfTaking(stage: Stage, client: Client, spec: EntrySpec): Promise<string> {
  return definiteCode(stage, () => client.session.enqueue(spec));
}

async function refusesOtherSpecs(
  stage: Stage,
  client: Client,
  { spec }: Pick<Contender, 'spec'>,
): Promise<void> {
  const others = [
    { ...spec, shared: !spec.shared, permits: 1 },
    { ...spec, shared: false, permits: (spec.permits ?? 1) + 1, limit: 5 },
  ];
  for (const other of others) expect(await codeOfTaking(stage, client, other)).to.equal('INVALID_ARGUMENT');
}

/**
 * Facts about entries that a client enters again. Such an entry keeps the mode and the permits that are
 * stored, whatever the caller requests.
 */
export const sameEntryFacts: readonly Fact[] = [
  fact(
    'entering again with another mode or other permits is refused, and the entry keeps its mode and permits',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const slots = { queue: `${stage.queue}-slots`, limit: 5, permits: 2 };
      const files = { queue: `${stage.queue}-files`, shared: true };
      const held = [await client.enter(), await client.enter(slots), await client.enter(files)];
      const waiter = await other.enter();
      for (const entry of held) await refusesOtherSpecs(stage, client, entry);
      for (const entry of held) entry.requirePlace(await client.enqueue(entry.spec));
      await expectOnlyAdmitted(stage, [...held, waiter], held);
    },
  ),

  fact(
    'entering another queue with the id of an entry is refused, and adds no entry to that queue',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const queue = `${stage.queue}-other`;
      const held = await client.enter();
      expect(await codeOfTaking(stage, client, { ...held.spec, queue })).to.equal('INVALID_ARGUMENT');
      const elsewhere = await other.enter({ queue });
      await elsewhere.untilAdmitted();
      await expectOnlyAdmitted(stage, [held, elsewhere], [held, elsewhere]);
      expect(await held.leave()).to.equal(true);
      expect(await elsewhere.leave()).to.equal(true);
    },
  ),

  fact(
    'entries of a resumed session keep the mode and the permits that are stored',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const slots = { queue: `${stage.queue}-slots`, limit: 5, permits: 2 };
      const files = { queue: `${stage.queue}-files`, shared: true };
      const held = [await client.enter(), await client.enter(slots), await client.enter(files)];
      const waiter = await other.enter();
      const resumed = await stage.resume(await stage.abandon(client));
      for (const entry of held) await refusesOtherSpecs(stage, resumed, entry);
      const [{ spec }] = held as [Contender];
      const elsewhere = { ...spec, queue: `${stage.queue}-other` };
      expect(await codeOfTaking(stage, resumed, elsewhere)).to.equal('INVALID_ARGUMENT');
      const retaken = [];
      for (const entry of held) retaken.push(await resumed.retake(entry));
      await expectOnlyAdmitted(stage, [...retaken, waiter], retaken);
    },
    ['resumption'],
  ),

  fact(
    'a writer that has become a reader can be resumed only as a reader',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const held = await client.enter();
      await held.untilAdmitted();
      await held.share('reads');
      const reader = await other.enter({ shared: true });
      await reader.untilAdmitted();
      const resumed = await stage.resume(await stage.abandon(client));
      expect(await codeOfTaking(stage, resumed, held.spec)).to.equal('INVALID_ARGUMENT');
      const spec = { ...held.spec, shared: true };
      const placement = await resumed.enqueue(spec);
      held.giveUp();
      const retaken = resumed.follow(spec, placement);
      await expectOnlyAdmitted(stage, [retaken, reader], [retaken, reader]);
    },
    ['resumption', 'sharing'],
  ),
];
