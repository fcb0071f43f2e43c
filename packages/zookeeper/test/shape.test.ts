import { isQueueLockError, type Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, newQueue, outcome, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a repeated enqueue of an entry in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let session: Session;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('shapes of @queuelock/zookeeper')).endpoint;
    session = await bench.session(server);
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  async function names(of = queue): Promise<readonly string[]> {
    return (await asOperator(server, (zk) => zk.children(`/${of}`))) ?? [];
  }

  it('finds the existing entry even if the limit of the semaphore has changed', async () => {
    const spec = newSpec(queue, { limit: 3, permits: 2 });
    const { key } = await session.enqueue(spec);
    for (const limit of [3, 2, 7]) expect((await session.enqueue({ ...spec, limit })).key).to.equal(key);
    expect(await names()).to.have.length(1);
  });

  for (const [what, stored, wanted] of [
    ['as a shared entry', {}, { shared: true }],
    ['with more permits', { limit: 3 }, { limit: 3, permits: 2 }],
  ] as const) {
    it(`is refused if the request has changed (${what}), and the existing entry is unchanged`, async () => {
      const spec = newSpec(queue, stored);
      const { key } = await session.enqueue(spec);
      const other = { ...spec, ...wanted };
      expect(await outcome(session.enqueue(other))).to.equal('INVALID_ARGUMENT');
      expect(await outcome(session.enqueueAll!([other]))).to.equal('INVALID_ARGUMENT');
      expect((await session.enqueue(spec)).key).to.equal(key);
      expect(await names()).to.have.length(1);
    });
  }

  it('for another queue is refused until the entry has left its first queue', async () => {
    const spec = newSpec(queue);
    await session.enqueue(spec);
    const elsewhere = { ...spec, queue: newQueue() };
    const error: unknown = await session.enqueue(elsewhere).catch((reason: unknown) => reason);
    expect(isQueueLockError(error, 'INVALID_ARGUMENT')).to.equal(true);
    expect(String(error)).to.include(spec.id).and.include(spec.queue).and.include(elsewhere.queue);
    expect(await outcome(session.enqueueAll!([newSpec(newQueue()), elsewhere]))).to.equal('INVALID_ARGUMENT');
    expect(await outcome(session.tryEnqueue(elsewhere))).to.equal('INVALID_ARGUMENT');
    expect(await names(elsewhere.queue)).to.deep.equal([]);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect((await session.enqueue(elsewhere)).turn.admitted).to.equal(true);
  });
});
