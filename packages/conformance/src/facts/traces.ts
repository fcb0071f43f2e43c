import { expect } from 'chai';
import type { HoldTraces } from '@queuelock/core/backend';
import type { Client } from '../client.ts';
import type { Contender } from '../contender.ts';
import { fact, type Fact } from '../fact.ts';
import type { Stage } from '../stage.ts';

function tracesOf({ session: { traces } }: Client): HoldTraces {
  if (!traces) throw new Error('its sessions leave no traces of holds');
  return traces;
}

function leave(client: Client, { spec }: Contender): Promise<readonly string[]> {
  return client.stage.board.within('leaving a trace answers', tracesOf(client).leave(spec.queue, spec.id));
}

async function erase(client: Client, traces: readonly string[]): Promise<void> {
  const { stage } = client;
  await stage.board.within('erasing traces answers', tracesOf(client).erase(stage.queue, traces));
}

function traceFact(title: string, play: (stage: Stage) => Promise<void>): Fact {
  return fact(title, play, ['traces']);
}

/** Facts about traces: records of holds, which stay when a hold does not end in an orderly way. */
export const traceFacts: readonly Fact[] = [
  traceFact('a hold that ended by its removal leaves no trace', async (stage) => {
    const [first, next] = await stage.threeClients();
    const holder = await first.enter();
    expect(await leave(first, holder)).to.deep.equal([]);
    await holder.leave();
    expect(await leave(next, await next.enter())).to.deep.equal([]);
  }),

  traceFact('a hold whose session ended leaves a trace until it is erased', async (stage) => {
    const [crashed, next, third] = await stage.threeClients();
    await leave(crashed, await crashed.enter());
    const waiter = await next.enter();
    await crashed.close();
    await waiter.untilAdmitted();
    const traces = await leave(next, waiter);
    expect(traces).to.have.length(1);
    expect(await leave(next, waiter), 'asked again').to.deep.equal(traces);
    await erase(next, traces);
    await erase(next, traces);
    expect(await leave(next, waiter), 'erased').to.deep.equal([]);
    await waiter.leave();
    expect(await leave(third, await third.enter()), 'to the next').to.deep.equal([]);
  }),

  fact(
    'a hold that an operator ended leaves a trace, even if its client removes the entry afterwards',
    async (stage) => {
      const [first, next] = await stage.threeClients();
      const holder = await first.enter();
      await leave(first, holder);
      await stage.evict(holder);
      await first.remove(holder.spec.queue, holder.spec.id);
      const waiter = await next.enter();
      await waiter.untilAdmitted();
      const traces = await leave(next, waiter);
      expect(traces).to.have.length(1);
      await erase(next, traces);
    },
    ['evict', 'traces'],
  ),

  traceFact('a hold that has not ended is no trace to another', async (stage) => {
    const [first, second] = await stage.threeClients();
    const [one, two] = [await first.enter({ limit: 2 }), await second.enter({ limit: 2 })];
    expect(await leave(first, one)).to.deep.equal([]);
    expect(await leave(second, two)).to.deep.equal([]);
  }),

  traceFact('a trace of one queue does not appear in a queue whose name it is a prefix of', async (stage) => {
    const client = await stage.client();
    const deeper = { queue: `${stage.queue}/deeper` };
    const [outer, inner] = [await client.enter(), await client.enter(deeper)];
    expect(await leave(client, inner)).to.deep.equal([]);
    expect(await leave(client, outer)).to.deep.equal([]);
  }),

  traceFact('an entry that is removed while its trace is in flight leaves no trace', async (stage) => {
    const [first, next] = await stage.threeClients();
    for (let round = 0; round < 3; round += 1) {
      const holder = await first.enter();
      const leaving = leave(first, holder).catch(() => []);
      await holder.leave();
      await leaving;
    }
    expect(await leave(next, await next.enter())).to.deep.equal([]);
  }),

  traceFact('a session without an entry in the queue leaves no trace', async (stage) => {
    const [first, next] = await stage.threeClients();
    const holder = await first.enter();
    await holder.leave();
    const refusal = await leave(first, holder).catch((error: unknown) => error);
    expect(refusal).to.have.property('code', 'ENTRY_LOST');
    expect(await leave(next, await next.enter())).to.deep.equal([]);
  }),
];
