import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import type { Stage } from '../stage.ts';
import { expectGrowing, expectOnlyAdmitted } from './line.ts';

/** Makes a fact whose scenario starts with `count` entries in one queue, each of another client. */
function queueFact(
  title: string,
  count: number,
  play: (stage: Stage, line: readonly Contender[]) => Promise<void>,
): Fact {
  return fact(title, async (stage) => {
    const line: Contender[] = [];
    while (line.length < count) line.push(await (await stage.client()).enter());
    await play(stage, line);
  });
}

/** Facts about the order of grants in a plain lock. */
export const orderFacts: readonly Fact[] = [
  queueFact('three connections are granted in the order in which they joined', 3, async (stage, line) => {
    for (const holder of line) {
      await expectOnlyAdmitted(stage, line, [holder]);
      await holder.leave();
    }
  }),

  queueFact('orders grow in the order of joining', 4, async (_stage, line) => {
    const orders = line.map(({ order }) => order);
    expectGrowing(orders);
  }),

  fact('the tokens of successive holders grow, also after the queue was empty', async (stage) => {
    const clients = await stage.threeClients();
    const tokens: bigint[] = [];
    for (const client of [...clients, ...clients]) {
      const contender = await client.enter();
      await contender.untilAdmitted();
      tokens.push(contender.placement.token);
      await contender.leave();
    }
    expectGrowing(tokens);
  }),

  queueFact('a removal wakes exactly the next waiter', 4, async (stage, line) => {
    const [first, second] = line as [Contender, Contender];
    await expectOnlyAdmitted(stage, line, [first]);
    await first.leave();
    await expectOnlyAdmitted(stage, line, [second]);
  }),

  queueFact(
    'a waiter that leaves the middle of the queue is skipped and wakes no other',
    4,
    async (stage, line) => {
      const [first, second, third, fourth] = line as [Contender, Contender, Contender, Contender];
      await first.untilAdmitted();
      await second.leave();
      await expectOnlyAdmitted(stage, line, [first]);
      await first.leave();
      await expectOnlyAdmitted(stage, line, [third]);
      await third.leave();
      await expectOnlyAdmitted(stage, line, [fourth]);
    },
  ),

  fact('several entries of one session in a queue wait for one another', async (stage) => {
    const [client, other] = await stage.threeClients();
    const line = [await client.enter(), await client.enter(), await other.enter(), await client.enter()];
    for (const holder of line) {
      await expectOnlyAdmitted(stage, line, [holder]);
      await holder.leave();
    }
  }),

  fact('entries of several sessions of one connection wait for one another', async (stage) => {
    const backend = await stage.connect();
    const line = [await (await stage.client(backend)).enter(), await (await stage.client(backend)).enter()];
    for (const holder of line) {
      await expectOnlyAdmitted(stage, line, [holder]);
      await holder.leave();
    }
  }),
];
