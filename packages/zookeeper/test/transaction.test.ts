import { createLockClient } from '@queuelock/core';
import type { EntrySpec, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import type { ZkDriver } from '../src/driver/driver.ts';
import { gateDirectory } from '../src/queue/names.ts';
import { Bench, allAdmitted, eventually, newQueue, outcome, newSpec, newSpecs } from './bench.ts';
import { OpCode } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';
import { TappedProcess } from './tapped-process.ts';

const GATE = gateDirectory('');
const { multi, list, getChildren } = OpCode;

describe('an enqueue in several ZooKeeper queues in one transaction', () => {
  const bench = new Bench();
  let server: string;
  let own: TappedProcess;
  let session: Session;
  let a: string;
  let b: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('entering several queues of @queuelock/zookeeper')).endpoint;
    [a, b] = [newQueue(), newQueue()];
    own = await TappedProcess.start(bench, server);
    session = await own.open();
    // The first enqueue creates the directories of the queues, and the directory of the gate, a queue for
    // clients without transactions.
    const first = newSpecs(a, b);
    await session.enqueueAll!(first);
    for (const { queue, id } of first) await session.remove(queue, id);
    own.reset();
  });
  afterEach(() => bench.clear());

  const sizes = (): Promise<readonly number[]> =>
    asOperator(server, (zk) =>
      Promise.all([a, b].map(async (queue) => (await zk.children(`/${queue}`))?.length ?? 0)),
    );

  /** Runs work while another client, which has no transactions, is in the gate to enqueue several entries. */
  const whileInGate = (work: (leave: () => Promise<unknown>, zk: ZkDriver) => Promise<void>): Promise<void> =>
    asOperator(server, async (zk) => {
      const { path } = await zk.create(`${GATE}/_c_other-lock-`, '', 'ephemeral-sequential');
      await work(() => zk.delete(path!), zk);
    });

  it('sends the transaction, a list of the gate, and a list of each queue, in one packet', async () => {
    const placements = await session.enqueueAll!(newSpecs(a, b));
    expect(own.taken().requests).to.deep.equal([multi, list, getChildren, getChildren]);
    const tokens = await asOperator(server, (zk) => Promise.all(placements.map(({ key }) => zk.stat(key))));
    expect(placements.map(({ token }) => token)).to.deep.equal(tokens.map((stat) => stat!.czxid));
    expect(tokens[0]!.czxid).to.equal(tokens[1]!.czxid);
  });

  it('does not wait for the gate when all its entries are admitted', async () => {
    await whileInGate(async () => {
      await allAdmitted(await session.enqueueAll!(newSpecs(a, b)));
    });
  });

  it('goes through the gate when an entry must wait while another client is in the gate', async () => {
    const held = newSpec(b);
    await session.enqueue(held);
    await whileInGate(async (leave, zk) => {
      const entered = session.enqueueAll!(newSpecs(a, b));
      const inGate = async (): Promise<number> =>
        (await zk.children(GATE))!.filter((name) => name.startsWith('_c_')).length;
      await eventually(async () => (await inGate()) === 2);
      expect(await sizes()).to.deep.equal([0, 1]);
      await leave();
      expect((await entered).map(({ turn }) => turn.admitted)).to.deep.equal([true, false]);
    });
  });

  it('does not wait for the gate when the caller passes the option isTry', async () => {
    await session.enqueue(newSpec(b));
    await whileInGate(async () => {
      const placements = await session.enqueueAll!(newSpecs(a, b), { isTry: true });
      expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal([true, false]);
    });
  });

  for (const transport of ['wire', 'native'] as const) {
    it(`does not wait for the gate when a client calls tryAcquire, with transport ${transport}`, async () => {
      const backend = bench.backend(server, { transport });
      const client = bench.keep(createLockClient(backend), (kept) => kept.close());
      await whileInGate(async (leave) => {
        const held = await client.multi([a, b]).tryAcquire();
        expect(held?.held).to.equal(true);
        expect(await client.multi([b, newQueue()]).tryAcquire()).to.equal(undefined);
        await held!.release();
        expect(await sizes()).to.deep.equal([0, 0]);
        expect(await leave()).to.equal(true);
      });
    });
  }

  it('keeps its positions when the caller repeats it after a lost reply', async () => {
    await session.enqueue(newSpec(b));
    const specs = newSpecs(a, b);
    expect(await losing(own.proxy, multi, () => session.enqueueAll!(specs))).to.equal('UNAVAILABLE');
    expect(await sizes()).to.deep.equal([1, 2]);
    const later = await bench.session(server);
    await later.enqueue(newSpec(b));
    const placements = await session.enqueueAll!(specs);
    expect(placements.map(({ turn }) => turn.ahead)).to.deep.equal([0, 1]);
    expect(await sizes()).to.deep.equal([1, 3]);
  });

  it('enqueues its entries anew after a lost reply if another client was in the gate', async () => {
    await session.enqueue(newSpec(b));
    const specs = newSpecs(a, b);
    await whileInGate(async (leave) => {
      expect(await losing(own.proxy, multi, () => session.enqueueAll!(specs))).to.equal('UNAVAILABLE');
      await leave();
    });
    await (await bench.session(server)).enqueue(newSpec(b));
    const placements = await session.enqueueAll!(specs);
    expect(placements.map(({ turn }) => turn.ahead)).to.deep.equal([0, 2]);
    expect(await sizes()).to.deep.equal([1, 3]);
  });

  it('leaves no entry if the caller removes the entries after a lost reply', async () => {
    const specs = newSpecs(a, b);
    expect(await losing(own.proxy, multi, () => session.enqueueAll!(specs))).to.equal('UNAVAILABLE');
    for (const { queue, id } of specs) expect(await session.remove(queue, id)).to.equal(true);
    expect(await sizes()).to.deep.equal([0, 0]);
  });

  describe('the later removal of its entries', () => {
    const leave = (specs: readonly EntrySpec[]): Promise<readonly boolean[]> =>
      Promise.all(specs.map(({ queue, id }) => session.remove(queue, id)));

    it('is one request for all entries', async () => {
      const specs = newSpecs(a, b);
      await session.enqueueAll!(specs);
      own.reset();
      expect(await leave(specs)).to.deep.equal([true, true]);
      expect(own.taken().requests).to.deep.equal([multi]);
      expect(await sizes()).to.deep.equal([0, 0]);
    });

    it('is one request when a client releases a multi-lock', async () => {
      const client = bench.keep(createLockClient(bench.backend(own.proxy.endpoint)), (kept) => kept.close());
      const held = await client.multi([a, b]).acquire();
      own.reset();
      await held.release();
      const { requests } = own.taken();
      expect(requests.filter((code) => code === multi || code === OpCode.delete)).to.deep.equal([multi]);
      expect(await sizes()).to.deep.equal([0, 0]);
    });

    it('removes the remaining entries when an operator has removed one', async () => {
      const specs = newSpecs(a, b);
      const [first] = await session.enqueueAll!(specs);
      await asOperator(server, (zk) => zk.delete(first!.key));
      own.reset();
      expect(await leave(specs)).to.deep.equal([false, true]);
      expect(own.taken().requests).to.deep.equal([multi, OpCode.delete, OpCode.delete]);
      expect(await sizes()).to.deep.equal([0, 0]);
    });

    it('admits the waiter behind each entry', async () => {
      const specs = newSpecs(a, b);
      await session.enqueueAll!(specs);
      const later = await bench.session(server);
      const waiting = await Promise.all([a, b].map((queue) => later.enqueue(newSpec(queue))));
      const turns = allAdmitted(waiting);
      await leave(specs);
      await turns;
    });

    it('finds no entry when the caller repeats it after a lost reply', async () => {
      const specs = newSpecs(a, b);
      await session.enqueueAll!(specs);
      expect(await losing(own.proxy, multi, () => leave(specs))).to.equal('UNAVAILABLE');
      expect(await leave(specs)).to.deep.equal([false, false]);
      expect(await sizes()).to.deep.equal([0, 0]);
    });
  });

  it('rejects with SESSION_LOST when the private node of the session was removed', async () => {
    await asOperator(server, (zk) => zk.delete(`/.queuelock/${session.id}`));
    expect(await outcome(session.enqueueAll!(newSpecs(a, b)))).to.equal('SESSION_LOST');
    expect(await sizes()).to.deep.equal([0, 0]);
  });
});
