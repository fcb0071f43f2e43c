import { QueueLockError, type LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { election, type Leadership } from '../src/index.ts';
import { MemoryStage, TTL_MS, failureOf } from './election-stage.ts';
import { follow } from './frame.ts';

/** The session and the entry of a leader, which a process stores for the process that replaces it. */
interface Ticket {
  readonly resume: string;
  readonly id: string;
}

describe('a leader that is restarted', () => {
  let stage: MemoryStage;

  beforeEach(() => {
    stage = new MemoryStage();
  });

  afterEach('leaves nothing behind', () => stage.close());

  async function ticketOf(client: LockClient, { id }: Leadership): Promise<Ticket> {
    return { resume: await client.exportSession(), id };
  }

  const restarted = ({ resume, id }: Ticket, value = 'after'): ReturnType<typeof election> =>
    election(stage.client({ resume }), 'x', { value, id });

  /** Elects a leader, with another candidate behind it in the queue. */
  async function leading(): Promise<{ client: LockClient; leadership: Leadership; ticket: Ticket }> {
    const client = stage.client();
    const leadership = await election(client, 'x', { value: 'before' }).campaign();
    void election(stage.client(), 'x', { value: 'rival' })
      .campaign()
      .then((other) => other.resign());
    await stage.settle();
    return { client, leadership, ticket: await ticketOf(client, leadership) };
  }

  it('keeps its entry and its token, so that no other candidate leads in between', async () => {
    const { client, leadership, ticket } = await leading();
    const seen = follow(election(stage.client(), 'x', { value: 'observer' }).leader$);
    await client.abandon();
    expect(leadership.held).to.equal(false);
    await stage.clock.advance(TTL_MS / 2);
    const again = await restarted(ticket).campaign();
    const { key, order, token, id } = leadership;
    expect(again).to.include({ key, order, token, id, held: true, value: 'after' });
    expect(seen.values.map(({ leader }) => leader?.value)).to.deep.equal([undefined, 'before', 'after']);
    expect(stage.values('x')).to.deep.equal(['after', 'rival']);
    await stage.clock.advance(3 * TTL_MS);
    expect(again.held, 'it lives on').to.equal(true);
    await again.resign();
    await stage.settle();
    expect(stage.values('x')).to.deep.equal([]);
    seen.stop();
  });

  it('continues after a crash with the data that it stored before', async () => {
    let dead = false;
    const client = stage.client({
      backend: {
        intercept: async (_call, proceed) => {
          if (dead) throw new QueueLockError('UNAVAILABLE', 'it is dead');
          return proceed();
        },
      },
    });
    const leadership = await election(client, 'x', { value: 'before' }).campaign();
    const ticket = await ticketOf(client, leadership);
    dead = true;
    await stage.clock.advance(TTL_MS / 2);
    const again = await restarted(ticket).campaign();
    expect(again).to.include({ token: leadership.token, held: true });
    await stage.clock.advance(2 * TTL_MS);
    expect(again.held).to.equal(true);
    expect(stage.values('x')).to.deep.equal(['after']);
  });

  it('joins at the end of the queue when its session has ended', async () => {
    const { client, leadership, ticket } = await leading();
    await client.abandon();
    await stage.clock.advance(TTL_MS);
    const again = await restarted(ticket).campaign();
    expect(again.token > leadership.token).to.equal(true);
    expect(stage.values('x')).to.deep.equal(['after']);
  });

  it('joins at the end of the queue when its entry was removed', async () => {
    const { client, leadership, ticket } = await leading();
    await client.abandon();
    stage.server.evict(leadership.key);
    await stage.settle();
    const holder = await stage.client().acquire('x');
    const again = restarted(ticket).campaign();
    await stage.settle();
    expect(stage.values('x').at(-1)).to.equal('after');
    await holder.release();
    expect(await again).to.include({ held: true });
  });

  it('joins at the end of the queue when it had resigned before the restart', async () => {
    const { client, leadership, ticket } = await leading();
    await leadership.resign();
    await client.abandon();
    const again = await restarted(ticket).campaign();
    expect(again.token > leadership.token).to.equal(true);
    expect(stage.values('x')).to.deep.equal(['after']);
  });

  it('joins at the end of the queue when the server refuses its entry', async () => {
    const { client, leadership, ticket } = await leading();
    await client.abandon();
    const ids: string[] = [];
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'enqueue' && ids.push(call) === 1)
        throw new QueueLockError('ENTRY_LOST', 'it was removed');
      return proceed();
    };
    const { resume, id } = ticket;
    const again = election(stage.client({ resume, backend: { intercept } }), 'x', {
      value: 'after',
      id,
    }).campaign();
    await stage.settle();
    stage.server.evict(leadership.key);
    expect((await again).id).to.not.equal(id);
  });

  it('leaves no entry when it has no permission to publish its value', async () => {
    const { client, ticket } = await leading();
    await client.abandon();
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'update') throw new QueueLockError('ACCESS_DENIED', 'not for you');
      return proceed();
    };
    const { resume, id } = ticket;
    const again = election(stage.client({ resume, backend: { intercept } }), 'x', { value: 'after', id });
    expect(await failureOf(again.campaign())).to.include({ code: 'ACCESS_DENIED' });
    await stage.settle();
    expect(stage.values('x')).to.deep.equal([]);
  });

  it('continues with its entry when it calls `lead`', async () => {
    const { client, leadership, ticket } = await leading();
    await client.abandon();
    const retiring = new AbortController();
    const led: Pick<Leadership, 'id' | 'order'>[] = [];
    await restarted(ticket).lead(
      ({ id, order }) => {
        led.push({ id, order });
        if (led.length === 2) retiring.abort();
      },
      { signal: retiring.signal },
    );
    const { id, order } = leadership;
    expect(led[0]).to.deep.equal({ id, order });
    expect(led[1]!.order > order, 'and then stands as all others').to.equal(true);
    expect(led[1]!.id).to.not.equal(id);
  });

  it('continues with its entry when it subscribes to `candidacy$`', async () => {
    const { client, leadership, ticket } = await leading();
    await client.abandon();
    const shown: (readonly [bigint, string | undefined])[] = [];
    const watching = restarted(ticket).candidacy$.subscribe((own) => {
      if (own) shown.push([own.order, stage.values('x')[0]]);
    });
    await stage.settle();
    stage.expireFirst('x');
    await stage.settle();
    expect(shown.map(([, value]) => value)).to.deep.equal(['after', 'after']);
    expect(shown[0]![0]).to.equal(leadership.order);
    expect(shown[1]![0] > leadership.order).to.equal(true);
    watching.unsubscribe();
    await stage.settle();
  });
});
