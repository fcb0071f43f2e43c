import { expect } from 'chai';
import { QueueLockError } from '../src/index.ts';
import { follow, join, onStage, ownershipOf, rejection } from './stage.ts';

/** Returns the value after it was serialised as JSON and parsed again. */
function sent(reported: unknown): unknown {
  return JSON.parse(JSON.stringify(reported));
}

describe('values serialised as JSON', () => {
  it('contain the order number and the fencing token of a claim as decimal text', () =>
    onStage(async (stage) => {
      const holder = await join(stage, stage.client());
      const waiter = await join(stage, stage.client());
      const own = ownershipOf(holder);
      expect(sent(holder.last)).to.deep.equal({
        status: 'held',
        ownership: {
          name: 'x',
          id: own.id,
          order: String(own.order),
          token: String(own.token),
          shared: false,
          limit: 1,
          permits: 1,
          depth: 1,
          held: true,
          remainingMs: own.remainingMs,
        },
      });
      const { order } = waiter.last as { readonly order: bigint };
      expect(sent(waiter.states)).to.have.nested.property('[1].order', String(order));
      expect(sent(waiter.states)).to.have.nested.property('[1].entriesAhead', 1);
      expect(waiter.last, 'nothing is added for whoever lists or compares it').to.have.all.keys(
        'status',
        'entriesAhead',
        'order',
        'token',
        'key',
        'id',
      );
      stage.server.evict(own.key);
      await stage.settle();
      expect(sent(holder.last)).to.have.nested.include({
        outcome: 'lost',
        'error.code': 'OWNERSHIP_LOST',
        'error.reason': 'entry-removed',
        'error.cause.code': 'ENTRY_LOST',
      });
      waiter.subscription.unsubscribe();
    }));

  it('contain the error and the eviction when a claim has ended', () =>
    onStage(async (stage) => {
      const holder = await join(stage, stage.client());
      const abort = new AbortController();
      const claims = [
        await join(stage, stage.client(), { signal: abort.signal }),
        await join(stage, stage.client()),
      ];
      abort.abort(new TypeError('enough'));
      await stage.settle();
      const [, second] = stage.server.queues().get('x')!;
      await stage.passing(
        stage
          .client()
          .evict('x', { key: second!.key, order: second!.order, owner: 'them' }, { reason: 'a test' }),
      );
      await stage.settle();
      expect(sent(claims[0]!.last)).to.have.deep.property('error', { name: 'TypeError', message: 'enough' });
      expect(sent(claims[1]!.last)).to.have.nested.include({
        'error.code': 'ENTRY_LOST',
        'error.eviction.reason': 'a test',
        'error.eviction.entry.order': String(second!.order),
      });
      holder.subscription.unsubscribe();
    }));

  it('contain the holds of a multi-lock, and the depth of a reentrant hold', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const both = follow(client.multi(['x', 'y']).claim());
      await stage.settle();
      expect(sent(both.last)).to.have.nested.include({ status: 'held', 'ownership.holds[1].name': 'y' });
      both.subscription.unsubscribe();
      await client.run(
        'z',
        () =>
          client.run('z', (own) => expect(sent(own)).to.include({ name: 'z', depth: 2, held: true }), {
            reentrant: true,
          }),
        { reentrant: true },
      );
    }));

  it('contain the orders of entries as decimal text in queues, lists of queues and histories', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const own = await client.acquire('x');
      const order = String(own.order);
      const seen: unknown[] = [];
      const watches = [
        client.watch('x').subscribe((state) => seen.push(sent(state))),
        client.queues().subscribe((state) => seen.push(sent(state))),
      ];
      await stage.settle();
      expect(seen.find((state) => JSON.stringify(state).includes('entries'))).to.be.an('object');
      expect(JSON.stringify(seen)).to.include(`"order":"${order}"`).and.to.include(`"front":"${order}"`);
      expect(sent(await client.history('x'))).to.have.nested.property('changes[0].entry.order', order);
      for (const watch of watches) watch.unsubscribe();
      await stage.passing(own.release());
    }));

  it('contain the message and the cause of an error', async () => {
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    const error = new QueueLockError('UNAVAILABLE', 'no session', { cause });
    expect(sent({ error })).to.deep.equal({
      error: {
        name: 'QueueLockError',
        code: 'UNAVAILABLE',
        message: '[UNAVAILABLE] no session',
        cause: { name: 'Error', message: 'reset', code: 'ECONNRESET' },
      },
    });
    expect(await rejection(Promise.reject(error))).to.equal(error);
  });
});
