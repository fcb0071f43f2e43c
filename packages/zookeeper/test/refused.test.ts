import { createLockClient, type LockClient } from '@queuelock/core';
import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { PERMISSION, allowAll } from './access.ts';
import { Bench, ending, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';
import { proxyTo } from './own-server.ts';

describe('an enqueue that ZooKeeper refuses', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let server: string;
  let session: Session;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('refusals of @queuelock/zookeeper')).endpoint;
    session = await bench.session(server);
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  /** Creates a queue in which all clients have the permissions `perms`, which do not include reading. */
  async function queueWith(perms: number): Promise<void> {
    await asOperator(server, (zk) => zk.create(`/${queue}`, '', 'persistent'));
    await allowAll(server, `/${queue}`, perms);
  }

  const count = async (): Promise<number | undefined> =>
    asOperator(server, async (zk) => (await zk.stat(`/${queue}`))?.childCount);

  it('leaves no entry if the client may create nodes but not read them', async () => {
    await queueWith(PERMISSION.create + PERMISSION.delete);
    const spec = newSpec(queue);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await outcome(session.enqueue(spec))).to.equal('ACCESS_DENIED');
      expect(await count()).to.equal(0);
    }
    expect(await outcome(session.enqueueAll!([newSpec(newQueue()), newSpec(queue)]))).to.equal(
      'ACCESS_DENIED',
    );
    expect(await count()).to.equal(0);
    const elsewhere = await session.enqueue({ ...spec, queue: newQueue() });
    expect(elsewhere.turn.admitted).to.equal(true);
    expect(await outcome(session.renew(signal))).to.equal('fine');
  });

  it('ends the session, and so frees the queue, if the client may not delete nodes', async () => {
    await queueWith(PERMISSION.create);
    const other = ending(await session.enqueue(newSpec(newQueue())));
    expect(await outcome(session.enqueue(newSpec(queue)))).to.equal('ACCESS_DENIED');
    expect(await outcome(session.renew(signal))).to.equal('SESSION_LOST');
    expect(await other).to.equal('SESSION_LOST');
    await eventually(async () => (await count()) === 0);
  });

  it('ends the holds of its session before another grant, even if the reply to closeSession is lost', async () => {
    await queueWith(PERMISSION.create);
    const proxy = await proxyTo(bench, server);
    const [one, other] = [proxy.endpoint, server].map((endpoint) =>
      bench.keep(createLockClient(bench.backend(endpoint), { ttlMs: 10_000 }), (client) => client.close()),
    ) as [LockClient, LockClient];
    const held = newQueue();
    const ownership = await one.acquire(held);
    const next = other.acquire(held).then(() => ownership.held);
    const trap = proxy.loseNextReply((chunk) => requestsIn(chunk).includes(OpCode.closeSession));
    const refused = outcome(one.acquire(queue));
    await trap.lost;
    expect(await next).to.equal(false);
    expect(await refused).to.be.oneOf(['ACCESS_DENIED', 'SESSION_LOST']);
  });

  it('leaves no entry in a queue of another naming, even if the reply to its create was lost', async () => {
    const proxy = await proxyTo(bench, server);
    const far = await bench.session(proxy.endpoint);
    const spec = newSpec(queue);
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'persistent');
      await zk.create(`/${queue}/x__lock__`, '', 'ephemeral-sequential');
      expect(await losing(proxy, OpCode.create, () => far.enqueue(spec))).to.equal('UNAVAILABLE');
      expect(await count()).to.equal(2);
      expect(await outcome(far.enqueue(spec))).to.equal('FOREIGN_FORMAT');
      expect(await count()).to.equal(1);
    });
  });
});
