import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { livedSince } from '@queuelock/harness/lived-time';
import { sharedZooKeeper, zkFourLetter } from '@queuelock/harness/services';
import { Bench, ending, newQueue, outcome, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';
import { untilExpired } from './severable-backends.ts';

describe('an abandoned ZooKeeper session', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('resuming of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  function resumed(session: Session): Promise<Session> {
    return bench.backend(server).resume!(session.resumption!, signal);
  }

  async function names(): Promise<readonly string[]> {
    return asOperator(server, async (zk) => (await zk.children(`/${queue}`)) ?? []);
  }

  it('refuses calls and sends no heartbeats, and its entries stay until it expires', async () => {
    const session = await bench.session(server, 5_000);
    const placement = await session.enqueue(newSpec(queue));
    let ended: string | undefined;
    void ending(placement).then((code) => (ended = code));
    await session.abandon!();
    await session.abandon!();
    await session.close();
    expect(await names()).to.have.length(1);
    const spec = newSpec(queue);
    for (const call of [session.renew(signal), session.enqueue(spec), session.remove(queue, spec.id)])
      expect(await outcome(call)).to.be.oneOf(['CLOSED', 'fine']);
    expect(await outcome(session.renew(signal))).to.equal('CLOSED');
    expect(await zkFourLetter(server, 'cons')).to.not.include(session.id);
    await untilExpired(server, session.id);
    expect(await names()).to.deep.equal([]);
    expect(ended).to.equal(undefined);
    expect(await outcome(resumed(session))).to.equal('SESSION_LOST');
  });

  for (const failure of ['down', 'silent']) {
    it(`makes abandon() resolve within two seconds although its connection is ${failure}`, async () => {
      const proxy = bench.keep(await startProxy(server), (started) => {
        started.refuse();
        started.cut();
      });
      const session = await bench.session(proxy.endpoint, 6_000);
      if (failure === 'silent') proxy.toServer.hold();
      else {
        proxy.refuse();
        proxy.cut();
      }
      const startedAt = performance.now();
      await session.abandon!();
      expect(livedSince(startedAt)).to.be.lessThan(2_000);
    });
  }
});
