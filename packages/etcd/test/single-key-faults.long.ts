import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ScriptProcess, endScripts } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import { benchOf } from './bench.ts';
import { eventually, freshQueue, newSpec } from './clients.ts';
import { MixedClients, ownName, type OldClient } from './old-locks.ts';

const HOLDER = fileURLToPath(new URL('./single-key-holder.ts', import.meta.url));

describe('a lock on a single key of etcd, after its holder was killed', () => {
  let old: OldClient;
  let queue: string;
  afterEach(endScripts);
  const bench = benchOf(new MixedClients());
  const { clients } = bench;
  beforeEach(() => {
    old = clients.old(bench.server.endpoint);
    queue = freshQueue();
  });

  const everything = (): Promise<string[]> => bench.operator.keysUnder(queue);

  it('is granted to a client without queues, if the holder was a client of queuelock', async () => {
    const holder = new ScriptProcess(scriptOf(HOLDER), ['new', bench.server.endpoint, queue]);
    await holder.untilEvent('held');
    expect(await old.tryLock(queue)).to.equal(undefined);
    await holder.kill();
    const lock = await old.lock(queue);
    expect(await everything()).to.deep.equal([queue]);
    await lock.release();
  });

  it('is granted to a waiter of queuelock, if the holder was a client without queues', async () => {
    const holder = new ScriptProcess(scriptOf(HOLDER), ['old', bench.server.endpoint, queue]);
    await holder.untilEvent('held');
    const session = await clients.session({ hosts: bench.server.endpoint, singleKey: ownName });
    const spec = newSpec(queue);
    const turns = clients.follow(await session.enqueue(spec));
    await eventually('it waits', () => turns.turn?.admitted === false);
    await holder.kill();
    await turns.untilAdmitted();
    await session.remove(queue, spec.id);
    expect(await everything()).to.deep.equal([]);
  });
});
