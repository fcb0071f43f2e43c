import { safely } from '@queuelock/conformance';
import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper, zkFourLetter } from '@queuelock/harness/services';
import type { ZkDriver } from '../src/driver/driver.ts';
import { Bench, admitted, ending, eventually, newQueue, newSpec } from './bench.ts';
import { OpCode } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';
import { TappedProcess } from './tapped-process.ts';

const LONG = 30;
const { create, delete: remove, exists, getChildren, getData } = OpCode;

describe('a ZooKeeper queue with naming fast', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;
  let own: TappedProcess;
  let session: Session;

  beforeEach(async () => {
    server = (await sharedZooKeeper('fast queues of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
    own = await TappedProcess.start(bench, server, { naming: 'fast' });
    session = await own.open();
  });
  afterEach(() => bench.clear());

  /**
   * Runs work while an operator has added so many entries that the queue is long. The session has listed the
   * queue before, so it knows that the queue is long.
   */
  const whileLong = (work: (zk: ZkDriver, others: readonly string[]) => Promise<void>): Promise<void> =>
    asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'persistent');
      const others: string[] = [];
      for (let count = 0; count < LONG; count += 1) others.push(await another(zk));
      await session.enqueue(newSpec(queue));
      await work(zk, others);
    });

  const another = async (zk: ZkDriver): Promise<string> =>
    (await zk.create(`/${queue}/__fast__`, `${newSpec(queue).id} theirs`, 'ephemeral-sequential')).path!;

  const untilWatched = (path: string): Promise<void> =>
    eventually(async () => (await zkFourLetter(server, 'wchp')).includes(`${path}\n`));

  it('needs a create and a list in one packet, and a delete, for a hold of a free lock', async () => {
    for (const directory of [[create, getChildren, create], []]) {
      const spec = newSpec(queue);
      own.reset();
      await session.enqueue(spec);
      await session.remove(queue, spec.id);
      expect(own.taken().requests).to.deep.equal([...directory, create, getChildren, remove]);
    }
  });

  it('needs no list request for an enqueue while the queue has more than 20 entries', async () => {
    await whileLong(async () => {
      own.reset();
      const { turn } = await session.enqueue(newSpec(queue));
      expect(turn).to.deep.equal({ admitted: false });
      expect(own.taken().requests).to.deep.equal([create, exists, getData]);
    });
  });

  it('needs only deletes for a hand-off within a process, even in a long queue', async () => {
    await whileLong(async (zk, others) => {
      const specs = [newSpec(queue), newSpec(queue), newSpec(queue)];
      const turns = [];
      for (const spec of specs) {
        const placement = await session.enqueue(spec);
        turns.push(admitted(placement));
        await untilWatched(placement.key);
      }
      await Promise.all(others.map((path) => zk.delete(path)));
      const [mine] = [...(await zk.children(`/${queue}`))!].sort();
      await zk.delete(`/${queue}/${mine!}`);
      await turns[0];
      own.reset();
      await session.remove(queue, specs[0]!.id);
      await turns[1];
      await session.remove(queue, specs[1]!.id);
      await turns[2];
      expect(own.taken().requests).to.deep.equal([remove, remove]);
    });
  });

  it('does not admit a waiter whose direct predecessor left while other entries are ahead', async () => {
    await whileLong(async (zk, others) => {
      const middle = await another(zk);
      const placement = await session.enqueue(newSpec(queue));
      const turns: boolean[] = [];
      placement.turns$.subscribe({
        next: ({ admitted: isTurn }) => turns.push(isTurn),
        error: () => undefined,
      });
      await untilWatched(middle);
      own.reset();
      await zk.delete(middle);
      await eventually(() => own.taken().requests.includes(getChildren));
      expect(await zk.children(`/${queue}`)).to.have.length(others.length + 2);
      safely(() => expect(turns).to.not.include(true));
    });
  });

  it('lists the entries if the entry with the previous number does not exist', async () => {
    await whileLong(async (zk, others) => {
      await zk.create(`/${queue}/note`, '', 'ephemeral');
      own.reset();
      const { turn } = await session.enqueue(newSpec(queue));
      expect(turn).to.deep.equal({ admitted: false, ahead: others.length + 1 });
      expect(own.taken().requests).to.deep.equal([create, exists, getData, getChildren]);
    });
  });

  it('refuses an entry behind an entry of another naming, even in a long queue', async () => {
    await whileLong(async (zk) => {
      await zk.create(`/${queue}/x-lock-`, '', 'ephemeral-sequential');
      expect(await session.enqueue(newSpec(queue)).catch(String)).to.include('FOREIGN_FORMAT');
    });
  });

  it('ends the wait of an entry that an operator removed, even in a long queue', async () => {
    await whileLong(async (zk) => {
      const placement = await session.enqueue(newSpec(queue));
      const end = ending(placement);
      await zk.delete(placement.key);
      expect(await end).to.equal('ENTRY_LOST');
    });
  });

  for (const isLong of [false, true]) {
    it(`contains no second entry if an enqueue is repeated after a lost reply (${isLong ? 'long' : 'short'} queue)`, async () => {
      const work = async (): Promise<void> => {
        await session.enqueue(newSpec(queue));
        const spec = newSpec(queue);
        expect(await losing(own.proxy, create, () => session.enqueue(spec))).to.equal('UNAVAILABLE');
        const there = (await asOperator(server, (zk) => zk.children(`/${queue}`)))!;
        const { key } = await session.enqueue(spec);
        expect([...there].sort().at(-1)).to.equal(key.slice(queue.length + 2));
        expect(await asOperator(server, (zk) => zk.children(`/${queue}`))).to.have.length(there.length);
        expect(await session.remove(queue, spec.id)).to.equal(true);
        expect(await asOperator(server, (zk) => zk.children(`/${queue}`))).to.have.length(there.length - 1);
      };
      await (isLong ? whileLong(work) : work());
    });
  }

  it('shows observers the values of entries without the ids that are stored with them', async () => {
    const seen: string[] = [];
    const watching = bench
      .backend(server, { naming: 'fast' })
      .observe(queue)
      .subscribe((entries) => seen.push(entries.map(({ value }) => value).join()));
    const spec = newSpec(queue, { value: 'one of them' });
    await session.enqueue(spec);
    await eventually(() => seen.at(-1) === 'one of them');
    await session.update(queue, spec.id, 'another');
    await eventually(() => seen.at(-1) === 'another');
    watching.unsubscribe();
  });
});
