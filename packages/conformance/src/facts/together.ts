import { expect } from 'chai';
import type { EntrySpec, Placement } from '@queuelock/core/backend';
import type { Client } from '../client.ts';
import type { Contender } from '../contender.ts';
import { fact, type Fact, type Need } from '../fact.ts';
import { safely } from '../safety.ts';
import type { Stage } from '../stage.ts';
import { expectNothingLeft, expectOnlyAdmitted } from './line.ts';

type Queues = readonly [string, string, string];

/** Makes a fact whose scenario uses three queues. */
export function togetherFact(
  title: string,
  play: (stage: Stage, queues: Queues) => Promise<void>,
  needs: readonly Need[] = ['together'],
): Fact {
  const names = ({ queue }: Stage): Queues => [`${queue}-a`, `${queue}-b`, `${queue}-c`];
  return fact(title, (stage) => play(stage, names(stage)), needs);
}

/**
 * Returns the spec of one entry for each queue. Only the name of the queue is set, and the client adds
 * default values for the rest of the spec.
 */
export function inAll(queues: readonly string[]): readonly Partial<EntrySpec>[] {
  return queues.map((queue) => ({ queue }));
}

/**
 * Compares the order of several calls, which are numbered from 0. The result contains `0<1` if an entry of call
 * 0 is ahead of an entry of call 1 in some queue. If it contains both `0<1` and `1<0`, two queues have
 * different orders.
 */
function precedences(calls: readonly (readonly Contender[])[]): readonly string[] {
  const entries = calls.flatMap((call, who) => call.map((entry) => ({ entry, who })));
  const pairs = entries.flatMap((one) =>
    entries
      .filter(({ entry }) => entry.queue === one.entry.queue && entry.order > one.entry.order)
      .map((other) => `${one.who}<${other.who}`),
  );
  return [...new Set(pairs)];
}

/** Enters all queues with one call, waits until all entries are admitted, and leaves them. */
async function holdAll(client: Client, specParts: readonly Partial<EntrySpec>[]): Promise<void> {
  const entries =
    specParts.length > 1 ? await client.enterAll(...specParts) : [await client.enter(specParts[0])];
  for (const entry of entries) await entry.untilAdmitted();
  for (const entry of entries) expect(await entry.leave()).to.equal(true);
}

/** Facts about entering several queues with one call. */
export const togetherFacts: readonly Fact[] = [
  togetherFact(
    'entries that enter together are placed in each queue, as specified',
    async (stage, queues) => {
      const [client, other] = await stage.threeClients();
      const [a, b, c] = queues;
      const held = await client.enterAll(...inAll([c, a, b]));
      for (const [place, queue] of [c, a, b].entries()) {
        await (await stage.watch(queue)).untilKeys(held[place]?.placement.key ?? '');
      }
      const waiting = await other.enterAll(...inAll(queues));
      await expectOnlyAdmitted(stage, [...held, ...waiting], held);
      await held[1]?.leave();
      await expectOnlyAdmitted(stage, waiting, waiting.slice(0, 1));
    },
  ),

  togetherFact('entries of all kinds enter together', async (stage, [files, slots]) => {
    const clients = await stage.threeClients();
    const slot = { queue: slots, limit: 3, permits: 2 };
    const reading = await clients[0].enterAll({ queue: files, shared: true });
    const both = await clients[1].enterAll({ queue: files, shared: true, value: 'reads' }, slot);
    const last = await clients[2].enterAll(slot, { queue: files });
    const all = [...reading, ...both, ...last];
    await expectOnlyAdmitted(stage, all, [...reading, ...both]);
    const watch = await stage.watch(files);
    await watch.until('two readers and a writer', (entries) => {
      return (
        entries[1]?.value === 'reads' && entries.map(({ shared }) => shared).join() === 'true,true,false'
      );
    });
    await both[1]?.leave();
    await expectOnlyAdmitted(stage, last, last.slice(0, 1));
  }),

  togetherFact(
    'any two claims that enter several queues are in the same order in all of them',
    async (stage, queues) => {
      const [one, two] = await stage.threeClients();
      const [a, b, c] = queues;
      for (let round = 0; round < 4 * (stage.harness.rounds ?? 5); round += 1) {
        const calls = await Promise.all([
          one.enterAll(...inAll([a, b, c])),
          two.enterAll(...inAll([c, b, a])),
          one.enterAll(...inAll([b, a])),
          two.enterAll(...inAll([a, c])),
        ]);
        safely(() => expect(precedences(calls), `round ${round}`).to.have.length(6));
        await Promise.all(calls.flat().map((entry) => entry.leave()));
      }
    },
  ),

  togetherFact('many claims of several queues are all granted', async (stage, queues) => {
    const clients = await stage.threeClients();
    const [a, b, c] = queues;
    const hold = async (client: Client, ...names: readonly string[]): Promise<void> => {
      const rounds = stage.harness.rounds ?? 5;
      for (let round = 0; round < rounds; round += 1) await holdAll(client, inAll(names));
    };
    await Promise.all([
      hold(clients[0], a, b, c),
      hold(clients[1], c, b, a),
      hold(clients[2], b, c),
      hold(clients[0], c, a),
      hold(clients[1], b),
    ]);
    await expectNothingLeft(stage, ...queues);
  }),

  togetherFact('entering together twice with the same ids adds the same entries', async (stage, queues) => {
    const [client, other] = await stage.threeClients();
    const held = await client.enterAll(...inAll(queues));
    const waiting = await other.enterAll(...inAll(queues));
    for (const [owner, entries] of [
      [client, held],
      [other, waiting],
    ] as const) {
      const again = await owner.enqueueAll(entries.map(({ spec }) => spec));
      for (const [place, entry] of entries.entries()) entry.requirePlace(again[place] as Placement);
    }
    for (const [place, queue] of queues.entries()) {
      const keys = [held, waiting].map((entries) => entries[place]?.placement.key ?? '');
      await (await stage.watch(queue)).untilKeys(...keys);
    }
  }),

  togetherFact('two entries of one queue are refused with INVALID_ARGUMENT', async (stage, [a, b]) => {
    const client = await stage.client();
    const specs = inAll([a, b, a]).map((part) => client.newSpec(part));
    const refusal = await client.enqueueAll(specs).catch((error: unknown) => error);
    expect(refusal).to.have.property('code', 'INVALID_ARGUMENT');
    await expectNothingLeft(stage, a, b);
  }),

  togetherFact(
    'no entry of a claim that entered together remains after its session has died',
    async (stage, queues) => {
      const other = await stage.client();
      const dying = await stage.client(undefined, stage.harness.ttlMs);
      await dying.enterAll(...inAll(queues));
      const next = await other.enterAll(...inAll(queues));
      await dying.crash();
      await expectOnlyAdmitted(stage, next, next);
      for (const { queue, placement } of next) await (await stage.watch(queue)).untilKeys(placement.key);
    },
  ),
];
