import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { gateDirectory } from '../src/queue/names.ts';
import { Bench, admitted, allAdmitted, eventually, newQueue, outcome, newSpec, newSpecs } from './bench.ts';
import { OpCode, creates, requestsIn } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';

const GATE = gateDirectory('');

describe('an enqueue in several ZooKeeper queues through a gate', () => {
  const bench = new Bench();
  let server: string;
  let proxy: TcpProxy;
  let a: string;
  let b: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('entering several queues of @queuelock/zookeeper')).endpoint;
    proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    [a, b] = [newQueue(), newQueue()];
  });
  afterEach(() => bench.clear());

  function names(directory: string): Promise<readonly string[]> {
    return asOperator(server, async (zk) => (await zk.children(directory)) ?? []);
  }

  /**
   * Returns the entries in the gate, a queue that lets one client at a time enqueue several entries. Ignores
   * the gates of registers, whose directories are below the gate's directory.
   */
  async function inGate(): Promise<readonly string[]> {
    return (await names(GATE)).filter((name) => name.startsWith('_c_'));
  }

  async function sizes(): Promise<readonly number[]> {
    return [(await names(`/${a}`)).length, (await names(`/${b}`)).length];
  }

  it('returns one result for each queue, in the order of the call', async () => {
    const session = await bench.session(server, 10_000, 'native');
    const specs = newSpecs(b, a);
    const placements = await session.enqueueAll!(specs);
    expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal([true, true]);
    const keys = placements.map(({ key }) => key);
    expect(keys.map((key) => key.split('/')[1])).to.deep.equal([b, a]);
    expect((await session.enqueueAll!(specs)).map(({ key }) => key)).to.deep.equal(keys);
    expect((await session.enqueue(specs[0]!)).key).to.equal(keys[0]);
    await eventually(async () => (await inGate()).length === 0);
    for (const { queue, id } of specs) expect(await session.remove(queue, id)).to.equal(true);
    expect(await sizes()).to.deep.equal([0, 0]);
    expect(await session.enqueueAll!([])).to.deep.equal([]);
  });

  it('sends three requests per queue and four for the gate when both queues are empty', async () => {
    const session = await bench.session(proxy.endpoint, 10_000, 'native');
    const first = newSpecs(a, b);
    await session.enqueueAll!(first);
    for (const { queue, id } of first) await session.remove(queue, id);
    const seen: number[] = [];
    proxy.onClientData = (chunk) => seen.push(...requestsIn(chunk));
    await session.enqueueAll!(newSpecs(a, b));
    await eventually(() => seen.includes(OpCode.delete));
    const { create, getChildren, exists } = OpCode;
    expect(seen.filter((code) => code !== OpCode.ping)).to.deep.equal([
      ...[create, getChildren, exists],
      ...[create, getChildren, create, getChildren, exists, exists],
      OpCode.delete,
    ]);
  });

  it('waits while another client is in the gate', async () => {
    const session = await bench.session(server, 10_000, 'native');
    await session.enqueueAll!(newSpecs(newQueue(), newQueue()));
    await asOperator(server, async (zk) => {
      const { path } = await zk.create(`${GATE}/_c_other-lock-`, '', 'ephemeral-sequential');
      const entered = session.enqueueAll!(newSpecs(a, b));
      await eventually(async () => (await inGate()).length === 2);
      expect(await sizes()).to.deep.equal([0, 0]);
      await zk.delete(path!);
      await entered;
    });
    expect(await sizes()).to.deep.equal([1, 1]);
  });

  it('rejects with ENTRY_LOST when the caller removes an entry during the wait for the gate', async () => {
    const session = await bench.session(server, 10_000, 'native');
    await session.enqueueAll!(newSpecs(newQueue(), newQueue()));
    const specs = newSpecs(a, b);
    await asOperator(server, async (zk) => {
      await zk.create(`${GATE}/_c_other-lock-`, '', 'ephemeral-sequential');
      const entered = outcome(session.enqueueAll!(specs));
      await eventually(async () => (await inGate()).length === 2);
      expect(await session.remove(b, specs[1]!.id)).to.equal(false);
      expect(await entered).to.equal('ENTRY_LOST');
      await eventually(async () => (await inGate()).length === 1);
    });
    expect(await sizes()).to.deep.equal([0, 0]);
  });

  it("waits for a dead client in the gate only until that client's session expires", async () => {
    const [dead, session] = [
      await bench.session(proxy.endpoint, 2_000, 'native'),
      await bench.session(server, 10_000, 'native'),
    ];
    const before = newSpecs(a, b);
    await session.enqueueAll!(before);
    for (const { queue, id } of before) await session.remove(queue, id);
    proxy.loseNextReply((chunk) => creates(chunk) === 2);
    void outcome(dead.enqueueAll!(newSpecs(a, b)));
    await eventually(async () => (await sizes()).join() === '1,1');
    proxy.refuse();
    proxy.cut();
    await allAdmitted(await session.enqueueAll!(newSpecs(b, a)));
    expect(await sizes()).to.deep.equal([1, 1]);
  });

  it('rejects with UNAVAILABLE when another client is in the gate for the whole TTL', async () => {
    const session = await bench.session(server, 2_000, 'native');
    await session.enqueueAll!(newSpecs(newQueue(), newQueue()));
    await asOperator(server, async (zk) => {
      await zk.create(`${GATE}/_c_other-lock-`, '', 'ephemeral-sequential');
      const ended = outcome(session.enqueueAll!(newSpecs(a, b)));
      const beating = setInterval(() => void outcome(session.renew(new AbortController().signal)), 300);
      bench.keep(beating, clearInterval);
      expect(await ended).to.equal('UNAVAILABLE');
      await eventually(async () => (await inGate()).length === 1);
    });
    expect(await sizes()).to.deep.equal([0, 0]);
  });

  it('rejects with UNAVAILABLE when an operator removes its node in the gate', async () => {
    const session = await bench.session(server, 10_000, 'native');
    const specs = newSpecs(a, b);
    await session.enqueueAll!(newSpecs(newQueue(), newQueue()));
    await asOperator(server, async (zk) => {
      const { path } = await zk.create(`${GATE}/_c_other-lock-`, '', 'ephemeral-sequential');
      const ended = outcome(session.enqueueAll!(specs));
      await eventually(async () => (await inGate()).length === 2);
      const waiting = (await inGate()).find((name) => !path!.endsWith(name))!;
      await zk.delete(`${GATE}/${waiting}`);
      expect(await ended).to.equal('UNAVAILABLE');
    });
    await allAdmitted(await session.enqueueAll!(specs));
  });

  it('removes the remaining entries when it is repeated after an operator has removed one', async () => {
    const session = await bench.session(server, 10_000, 'native');
    const specs = newSpecs(a, b);
    const [first] = await session.enqueueAll!(specs);
    await asOperator(server, (zk) => zk.delete(first!.key));
    expect(await outcome(session.enqueueAll!(specs))).to.equal('ENTRY_LOST');
    expect(await sizes()).to.deep.equal([0, 0]);
  });

  it('is refused for two entries in one queue, and for more than 60 entries', async () => {
    const session = await bench.session(server, 10_000, 'native');
    expect(await outcome(session.enqueueAll!(newSpecs(a, b, a)))).to.equal('INVALID_ARGUMENT');
    const many = Array.from({ length: 61 }, (_, number) => `${a}/${number}`);
    expect(await outcome(session.enqueueAll!(newSpecs(...many)))).to.equal('INVALID_ARGUMENT');
    expect(await sizes()).to.deep.equal([0, 0]);
    expect(await session.enqueueAll!(newSpecs(...many.slice(1)))).to.have.length(60);
  });

  it('creates no second entry when the caller repeats it after a lost reply', async () => {
    const session = await bench.session(proxy.endpoint, 10_000, 'native');
    await session.enqueueAll!(newSpecs(a, b));
    const specs = newSpecs(a, b);
    const trap = proxy.loseNextReply((chunk) => creates(chunk) === 2);
    const ended = outcome(session.enqueueAll!(specs));
    await trap.lost;
    proxy.cut();
    expect(await ended).to.equal('UNAVAILABLE');
    expect(await sizes()).to.deep.equal([2, 2]);
    const there = [...(await names(`/${a}`)), ...(await names(`/${b}`))];
    const keys = (await session.enqueueAll!(specs)).map(({ key }) => key.split('/')[2]);
    expect(there).to.include.members(keys);
    expect(await sizes()).to.deep.equal([2, 2]);
    await eventually(async () => (await inGate()).length === 0);
  });

  it('enqueues all entries anew if an earlier call created only some of them', async () => {
    const [session, other] = [
      await bench.session(proxy.endpoint, 10_000, 'native'),
      await bench.session(server, 10_000, 'native'),
    ];
    const specs = newSpecs(a, b);
    // The directory of the queue `b` is missing, so the create is sent again after the directory was made.
    await other.enqueue(newSpec(a));
    await session.enqueueAll!(newSpecs(newQueue(), newQueue()));
    expect(await losing(proxy, CREATE_CONTAINER, () => session.enqueueAll!(specs))).to.equal('UNAVAILABLE');
    expect(await sizes()).to.deep.equal([2, 0]);
    const between = await other.enqueueAll!(newSpecs(a, b));
    const late = await session.enqueueAll!(specs);
    expect(late.map(({ turn }) => turn.ahead)).to.deep.equal([2, 1]);
    expect(between.map(({ order }, at) => order < late[at]!.order)).to.deep.equal([true, true]);
    expect(await sizes()).to.deep.equal([3, 2]);
  });

  it('leaves no entry if the caller removes the entries after a lost reply', async () => {
    const session = await bench.session(proxy.endpoint, 10_000, 'native');
    const specs = newSpecs(a, b);
    await session.enqueueAll!(newSpecs(newQueue(), newQueue()));
    const trap = proxy.loseNextReply((chunk) => creates(chunk) === 2);
    const ended = outcome(session.enqueueAll!(specs));
    await trap.lost;
    proxy.cut();
    expect(await ended).to.equal('UNAVAILABLE');
    for (const { queue, id } of specs) await session.remove(queue, id);
    expect(await sizes()).to.deep.equal([0, 0]);
    await eventually(async () => (await inGate()).length === 0);
  });

  it('creates no entry when the reply that admits it to the gate is lost', async () => {
    const session = await bench.session(proxy.endpoint, 10_000, 'native');
    const specs = newSpecs(a, b);
    expect(await losing(proxy, OpCode.getChildren, () => session.enqueueAll!(specs))).to.equal('UNAVAILABLE');
    expect(await sizes()).to.deep.equal([0, 0]);
    await eventually(async () => (await inGate()).length === 0);
    await allAdmitted(await session.enqueueAll!(specs));
    await eventually(async () => (await inGate()).length === 0);
  });

  it('can admit its entry in one queue while its entry in another queue waits', async () => {
    const [holder, session] = [
      await bench.session(server, 10_000, 'native'),
      await bench.session(server, 10_000, 'native'),
    ];
    const held = newSpec(b);
    await holder.enqueue(held);
    const [first, second] = await session.enqueueAll!(newSpecs(a, b));
    expect([first!.turn.admitted, second!.turn.admitted]).to.deep.equal([true, false]);
    const turn = admitted(second!);
    await holder.remove(b, held.id);
    await turn;
  });
});

const CREATE_CONTAINER = 19;
