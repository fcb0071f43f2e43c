import { safely } from '@queuelock/conformance';
import { isQueueLockError, type Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import { parseResumption, resumptionText } from '../src/session/resumption.ts';
import { Bench, admitted, newQueue, outcome, newSpec, newSpecs } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a resumed ZooKeeper session', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let server: string;
  let proxy: TcpProxy;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('resuming of @queuelock/zookeeper')).endpoint;
    proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  function resumed(session: Session): Promise<Session> {
    return bench.backend(server).resume!(session.resumption!, signal);
  }

  function names(of = queue): Promise<readonly string[]> {
    return asOperator(server, async (zk) => (await zk.children(`/${of}`)) ?? []);
  }

  it('keeps its entries at their positions, and no other session is granted meanwhile', async () => {
    const [first, other] = [await bench.session(server), await bench.session(server)];
    const [held, waiting] = [newSpec(queue), newSpec(queue, { limit: 2 })];
    const before = [await first.enqueue(held), await first.enqueue(waiting)] as const;
    const last = await other.enqueue(newSpec(queue));
    await first.abandon!();
    const second = await resumed(first);
    expect([second.id, second.ttlMs]).to.deep.equal([first.id, first.ttlMs]);
    const after = [await second.enqueue(held), await second.enqueue(waiting)] as const;
    for (const [at, { key, order, token }] of before.entries())
      expect(after[at]).to.include({ key, order, token });
    expect(await second.renew(signal)).to.be.within(1, second.ttlMs);
    const turn = admitted(last);
    expect(await second.remove(queue, held.id)).to.equal(true);
    expect(await second.remove(queue, waiting.id)).to.equal(true);
    await turn;
    expect(await names()).to.have.length(1);
  });

  it('can change and remove the entries of the earlier client, and enqueue new ones', async () => {
    const first = await bench.session(server);
    const specs = [newSpec(queue), newSpec(queue), newSpec(queue)] as const;
    for (const spec of specs) await first.enqueue(spec);
    await first.traces!.leave(queue, specs[0].id);
    await first.abandon!();
    const second = await resumed(first);
    expect(await second.remove(queue, specs[0].id)).to.equal(true);
    expect(await asOperator(server, (zk) => zk.children(`/.queuelock/held/${queue}`))).to.deep.equal([]);
    expect(await second.update(queue, specs[1].id, 'new')).to.equal(true);
    expect(await second.share!(queue, specs[1].id, 'shared')).to.equal(true);
    expect(await second.remove(queue, newSpec(queue).id)).to.equal(false);
    await second.enqueue(newSpec(queue));
    expect(await names()).to.have.length(3);
    await second.close();
    expect(await names()).to.deep.equal([]);
  });

  it('keeps the token of an entry that was converted to a reader', async () => {
    const [first, other] = [await bench.session(server), await bench.session(server)];
    const held = newSpec(queue);
    const { token } = await first.enqueue(held);
    const next = await other.enqueue(newSpec(queue));
    expect(await first.share!(queue, held.id, 'reads')).to.equal(true);
    await first.abandon!();
    const second = await resumed(first);
    const again = await second.enqueue({ ...held, shared: true });
    safely(() => {
      expect(again.token).to.equal(token);
      expect(again.token < next.token).to.equal(true);
    });
    expect(await bench.backend(server).tokenOf!(queue, again)).to.equal(token);
    expect(await second.traces!.leave(queue, held.id)).to.have.length(0);
  });

  for (const [what, stored, wanted, reported] of [
    [
      'a writer as a reader',
      {},
      { shared: true },
      /exclusive with 1 of 1 permits and was requested as shared/,
    ],
    ['a reader as a writer', { shared: true }, {}, /stored as shared and was requested as exclusive/],
    ['one permit as three', { limit: 3 }, { limit: 3, permits: 3 }, /1 of 3 permits.* 3 of 3 permits/],
  ] as const) {
    it(`refuses to claim an entry with another mode or number of permits (${what})`, async () => {
      const first = await bench.session(server);
      const spec = newSpec(queue, stored);
      const { key } = await first.enqueue(spec);
      await first.abandon!();
      const second = await resumed(first);
      const other = { ...newSpec(queue, wanted), id: spec.id };
      for (const attempt of [() => second.enqueue(other), () => second.enqueueAll!([other])]) {
        const error: unknown = await attempt().catch((reason: unknown) => reason);
        expect(isQueueLockError(error, 'INVALID_ARGUMENT'), String(error)).to.equal(true);
        expect(String(error)).to.include(spec.id).and.match(reported);
        expect(await names()).to.deep.equal([key.split('/').at(-1)]);
      }
      expect((await second.enqueue(spec)).key).to.equal(key);
      expect(await second.remove(queue, spec.id)).to.equal(true);
    });
  }

  it('keeps the key and token of an entry that it enqueues again with another semaphore limit', async () => {
    const first = await bench.session(server);
    const spec = newSpec(queue, { limit: 2 });
    const { key, token } = await first.enqueue(spec);
    await first.abandon!();
    const again = await (await resumed(first)).enqueue({ ...spec, limit: 4 });
    expect(again).to.deep.include({ key, token });
    expect(again.turn.admitted).to.equal(true);
  });

  it('refuses to claim, as a writer, an entry that was converted to a reader', async () => {
    const first = await bench.session(server);
    const held = newSpec(queue);
    await first.enqueue(held);
    await first.share!(queue, held.id, 'reads');
    await first.abandon!();
    const taken = await outcome((await resumed(first)).enqueue(held));
    safely(() => expect(taken).to.equal('INVALID_ARGUMENT'));
  });

  it('continues a multi-lock only if all its entries still exist', async () => {
    const first = await bench.session(server);
    const [b, c] = [newQueue(), newQueue()];
    const [whole, half] = [newSpecs(queue, b), newSpecs(queue, c)];
    const before = await first.enqueueAll!(whole);
    const [lost] = await first.enqueueAll!(half);
    await asOperator(server, (zk) => zk.delete(lost!.key));
    await first.abandon!();
    const second = await resumed(first);
    const after = await second.enqueueAll!(whole);
    expect(after.map(({ key }) => key)).to.deep.equal(before.map(({ key }) => key));
    expect(await outcome(second.enqueueAll!(half))).to.equal('ENTRY_LOST');
    expect(await names(c)).to.deep.equal([]);
    expect(await second.enqueueAll!(newSpecs(queue, c))).to.have.length(2);
  });

  it('can be abandoned while the server cannot be reached', async () => {
    for (const failure of ['down', 'silent']) {
      const session = await bench.session(proxy.endpoint);
      await session.enqueue(newSpec(queue));
      if (failure === 'silent') proxy.toServer.hold();
      else {
        proxy.refuse();
        proxy.cut();
      }
      await session.abandon!();
      const second = await resumed(session);
      proxy.cut();
      await proxy.heal();
      expect(await names()).to.have.length(1);
      expect(await second.renew(signal)).to.be.within(1, second.ttlMs);
      await second.close();
    }
  });

  it('is lost for the earlier client when that client reconnects', async () => {
    const first = await bench.session(proxy.endpoint);
    const spec = newSpec(queue);
    await first.enqueue(spec);
    proxy.refuse();
    const second = await resumed(first);
    expect((await second.enqueue(spec)).turn.admitted).to.equal(true);
    expect(await second.renew(signal)).to.be.within(1, second.ttlMs);
    await proxy.heal();
    // The client that opened the session reconnects and so takes the session back. That breaks the connection
    // of the client that has resumed the session.
    const isLost = async (): Promise<void> => {
      expect(await outcome(first.renew(signal))).to.equal('SESSION_LOST');
    };
    await until(isLost, { what: 'the first one learns it', withinMs: 10_000 });
    await first.close();
    const goesOn = async (): Promise<void> => {
      expect(await outcome(second.renew(signal))).to.equal('fine');
    };
    await until(goesOn, { what: 'the second one goes on', withinMs: 10_000 });
    expect(await names()).to.have.length(1);
  });

  it('does not end when an attempt to resume it fails', async () => {
    const session = await bench.session(server);
    await session.enqueue(newSpec(queue));
    await session.abandon!();
    const aborted = bench.backend(server).resume!(session.resumption!, AbortSignal.abort(new Error('no')));
    expect(await outcome(aborted)).to.equal('Error: no');
    const tooShort = bench.backend(server, { tickTimeMs: 60_000 });
    expect(await outcome(tooShort.resume!(session.resumption!, signal))).to.equal('INVALID_ARGUMENT');
    expect(await names()).to.have.length(1);
    expect(await (await resumed(session)).renew(signal)).to.be.greaterThan(0);
  });

  it('requires its password', async () => {
    const session = await bench.session(server);
    const { session: key, ttlMs } = parseResumption(session.resumption!);
    const wrong = resumptionText({ session: { ...key, client_password: '0'.repeat(32) }, ttlMs });
    expect(await outcome(bench.backend(server).resume!(wrong, signal))).to.equal('SESSION_LOST');
    const renewed = async (): Promise<void> => {
      expect(await outcome(session.renew(signal))).to.equal('fine');
    };
    await until(renewed, { what: 'the session goes on', withinMs: 5_000 });
  });
});

describe('the text of an exported ZooKeeper session', () => {
  const key = { session: { client_id: '1000', client_password: 'ab'.repeat(16) }, ttlMs: 15_000 };

  it('is parsed into the session and the TTL from which it was formatted', () => {
    expect(parseResumption(resumptionText(key))).to.deep.equal(key);
  });

  for (const text of ['', '{', 'null', '[]', '{"session":"1000"}', resumptionText({ ...key, ttlMs: -1 })]) {
    it(`is refused when it is ${JSON.stringify(text)}`, () => {
      try {
        parseResumption(text);
      } catch (error) {
        expect(isQueueLockError(error, 'INVALID_ARGUMENT')).to.equal(true);
        if (text !== '') expect(String(error)).to.not.include(text);
        return;
      }
      throw new Error('it was taken');
    });
  }
});
