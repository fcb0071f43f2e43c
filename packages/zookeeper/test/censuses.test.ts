import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '../../../integration/services.ts';
import { Censuses } from '../src/censuses.ts';
import { Bench, newQueue, wish } from './bench.ts';
import { BEGINNINGS, Directory, recognized } from './directory.ts';
import { OpCode } from './frames.ts';
import { asOperator } from './operator.ts';
import { TappedProcess } from './tapped.ts';

describe('the last change of a directory in ZooKeeper', () => {
  it('is a node’s own create, where nothing was ever deleted there', () => {
    const directory = new Directory();
    directory.create();
    const { sequence, czxid } = directory.create();
    expect(new Censuses().taken('/a', directory.stat(), sequence)).to.equal(czxid);
  });

  it('is not, where another was made after it', () => {
    const directory = new Directory();
    const { sequence } = directory.create();
    directory.create();
    expect(new Censuses().taken('/a', directory.stat(), sequence)).to.equal(undefined);
  });

  it('is not known from one list, where something was deleted there', () => {
    const directory = new Directory();
    directory.create();
    directory.delete();
    const { sequence } = directory.create();
    expect(new Censuses().taken('/a', directory.stat(), sequence)).to.equal(undefined);
  });

  it('is not known from one list, where numbers have begun again', () => {
    const directory = new Directory(2 ** 32 - 1);
    directory.create();
    const { sequence } = directory.create();
    directory.delete();
    expect(sequence).to.equal(0);
    expect(new Censuses().taken('/a', directory.stat(), sequence)).to.equal(undefined);
  });

  it('is not known of a directory that was made anew', () => {
    const [censuses, before, anew] = [new Censuses(), new Directory(), new Directory()];
    const { sequence: first } = before.create();
    censuses.taken('/a', before.stat(), first);
    censuses.deleted('/a');
    anew.create();
    const { sequence } = anew.create();
    anew.delete();
    expect(censuses.taken('/a', { ...anew.stat(), czxid: 2n }, sequence)).to.equal(undefined);
  });

  it('is forgotten of those that were not entered for a thousand others', () => {
    const censuses = new Censuses();
    const [kept, lost] = [new Directory(5), new Directory(5)];
    const enter = (path: string, directory: Directory): boolean => {
      const { sequence, czxid } = directory.create();
      return censuses.taken(path, directory.stat(), sequence) === czxid;
    };
    enter('/lost', lost);
    enter('/kept', kept);
    for (let count = 0; count < 999; count += 1) enter(`/other-${count}`, new Directory(5));
    expect([enter('/kept', kept), enter('/lost', lost)]).to.deep.equal([true, false]);
  });

  for (const [where, madeBefore] of BEGINNINGS) {
    it(`is never taken for the create of another node, ${where}`, () => {
      expect(recognized(madeBefore, 1)).to.be.greaterThan(50);
    });
  }
});

describe('the token of an entry that need not wait', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('tokens of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  /** Rounds of a free lock, with what somebody does in between; answers how often the node was looked at. */
  async function looksIn(rounds: number, between: (round: number) => Promise<unknown>): Promise<number> {
    const own = await TappedProcess.start(bench, server);
    const session = await own.open();
    let looks = 0;
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'persistent');
      await zk.delete((await zk.create(`/${queue}/`, '', 'ephemeral-sequential')).path!);
      for (let round = 0; round < rounds; round += 1) {
        own.reset();
        const spec = wish(queue);
        const { key, token, turn } = await session.enqueue(spec);
        looks += own.taken().requests.filter((code) => code === OpCode.exists).length;
        expect(turn.admitted).to.equal(true);
        expect(token).to.equal((await zk.stat(key))?.czxid);
        await session.remove(queue, spec.id);
        await between(round);
      }
    });
    return looks;
  }

  it('takes a look the first time only, while nobody else is in the queue', async () => {
    expect(await looksIn(5, () => Promise.resolve())).to.equal(1);
  });

  it('takes a look after another was in it', async () => {
    const other = await bench.session(server);
    const looks = await looksIn(4, async () => {
      const spec = wish(queue);
      await other.enqueue(spec);
      await other.remove(queue, spec.id);
    });
    expect(looks).to.equal(4);
  });

  it('takes none for children that came with a name of their own and stay', async () => {
    const looks = await asOperator(server, (zk) =>
      looksIn(4, (round) => zk.create(`/${queue}/note-${round}`, '', 'ephemeral')),
    );
    expect(looks).to.equal(1);
  });

  it('is that of its node, whoever comes and goes meanwhile', async () => {
    const sessions = await Promise.all([1, 2, 3].map(() => bench.session(server)));
    await asOperator(server, async (zk) => {
      const live = async (session: Session): Promise<void> => {
        for (let round = 0; round < 40; round += 1) {
          const specs = [wish(queue, { limit: 1_000 }), wish(queue, { limit: 1_000 })];
          const placements = await Promise.all(specs.map((spec) => session.enqueue(spec)));
          for (const { key, token } of placements) expect(token).to.equal((await zk.stat(key))?.czxid);
          await Promise.all(specs.slice(round % 2).map(({ id }) => session.remove(queue, id)));
        }
      };
      const over = new AbortController();
      const lives = Promise.all(sessions.map(live)).finally(() => over.abort());
      for (let round = 0; !over.signal.aborted; round += 1) {
        const note = `/${queue}/note-${round % 3}`;
        if (!(await zk.delete(note))) await zk.create(note, '', 'ephemeral');
      }
      await lives;
    });
  });
});
