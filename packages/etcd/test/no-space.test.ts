import { expect } from 'chai';
import { startEtcd } from '../../../integration/services.ts';
import { Clients, freshQueue, wish } from './clients.ts';
import { Operator } from './operator.ts';

const patient = new AbortController().signal;

describe('an etcd without space', () => {
  let server: Awaited<ReturnType<typeof startEtcd<'process'>>>;
  let operator: Operator;
  const clients = new Clients();

  before(async () => {
    server = await startEtcd({ way: 'process', flags: { 'quota-backend-bytes': 4_000_000 } });
    operator = new Operator(server.endpoint);
  });
  after(async () => {
    await clients.close();
    operator.close();
    await server.stop();
  });

  it('keeps holds, lets them be released, and says what to do to whoever enters', async () => {
    const session = await clients.session({ hosts: server.endpoint, beats: 'strict' });
    const reading = await clients.session({ hosts: server.endpoint, beats: 'verified' });
    const queue = freshQueue();
    const [held, waiting] = [wish(queue), wish(queue)];
    await session.enqueue(held);
    const turns = clients.follow(await session.enqueue(waiting));
    await operator.fillUp();
    const failure: unknown = await session.enqueue(wish(queue)).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    expect(failure).to.have.property('message').that.includes('disarm the alarm');
    for (const each of [session, reading]) expect(await each.renew(patient)).to.equal(each.ttlMs);
    expect(await session.remove(queue, held.id)).to.equal(true);
    await turns.untilAdmitted();
    expect(await session.remove(queue, waiting.id)).to.equal(true);
  });
});
