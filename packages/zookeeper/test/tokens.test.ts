import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, newQueue, newSpec, type Driver } from './bench.ts';
import { OpCode } from './frames.ts';
import { asOperator } from './operator.ts';
import { TappedProcess } from './tapped-process.ts';

describe('the token of an entry that is admitted at once', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('tokens of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  /**
   * Acquires and releases a free lock `rounds` times, with entries of another session in between. Resolves
   * with the number of reads of the holds' nodes.
   */
  async function readsIn(rounds: number, transport: Driver): Promise<number> {
    const own = await TappedProcess.start(bench, server, { transport });
    const [session, other] = [await own.open(), await bench.session(server)];
    let reads = 0;
    await asOperator(server, async (zk) => {
      for (let round = 0; round < rounds; round += 1) {
        own.reset();
        const [spec, between] = [newSpec(queue), newSpec(queue)];
        const { key, token, turn } = await session.enqueue(spec);
        reads += own.taken().requests.filter((code) => code === OpCode.exists).length;
        expect(turn.admitted).to.equal(true);
        expect(token).to.equal((await zk.stat(key))?.czxid);
        await session.remove(queue, spec.id);
        await other.enqueue(between);
        await other.remove(queue, between.id);
      }
    });
    return reads;
  }

  it('needs no read, since the reply to the create contains the token', async () => {
    expect(await readsIn(3, 'wire')).to.equal(0);
  });

  it('needs one read with transport native', async () => {
    expect(await readsIn(3, 'native')).to.equal(3);
  });

  it('is the transaction id of its node, even if other sessions enqueue meanwhile', async () => {
    const sessions = await Promise.all([1, 2, 3].map(() => bench.session(server)));
    await asOperator(server, async (zk) => {
      const live = async (session: Session): Promise<void> => {
        for (let round = 0; round < 40; round += 1) {
          const specs = [newSpec(queue, { limit: 1_000 }), newSpec(queue, { limit: 1_000 })];
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
