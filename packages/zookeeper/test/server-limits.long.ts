import { createLockClient } from '@queuelock/core';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { Bench } from './bench.ts';
import { asOperator } from './operator.ts';
import { ownServer } from './own-server.ts';

const FAST = { tickTimeMs: 500, syncLimit: 2 } as const;

/** Returns the error of a call that must fail. */
async function refusal(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => new Error('it was not refused'),
    (error: unknown) => error as Error,
  );
}

describe('a ZooKeeper that has reached its limit', function () {
  this.timeout(60_000);
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('of connections causes an error that names maxClientCnxns', async () => {
    const { endpoint } = await ownServer(bench, { maxClientCnxns: 1 });
    const [first, second] = [1, 2].map(() =>
      bench.keep(createLockClient(zookeeper({ hosts: [endpoint], ...FAST })), (client) => client.close()),
    );
    const hold = await first!.acquire('jobs');
    const { message } = await refusal(second!.acquire('jobs'));
    expect(message).to.contain('maxClientCnxns connections of this address');
    const found = await second!.diagnose('');
    expect(found.map(({ level }) => level)).to.deep.equal(['error', 'error']);
    for (const { text } of found) expect(text).to.contain('maxClientCnxns');
    expect(hold.held).to.equal(true);
    await hold.release();
  });

  it('of nodes causes an error that names setquota', async () => {
    const { endpoint } = await ownServer(bench, { enforceQuota: true });
    await asOperator(endpoint, async (zk) => {
      for (const [path, data] of [
        ['/app', ''],
        ['/zookeeper/quota/app', ''],
        ['/zookeeper/quota/app/zookeeper_limits', 'count=3,bytes=-1=;byteHardLimit=-1;countHardLimit=3'],
        ['/zookeeper/quota/app/zookeeper_stats', 'count=1,bytes=0'],
      ] as const)
        await zk.create(path, data, 'persistent');
    });
    const backend = zookeeper({ hosts: [endpoint], chroot: '/app', ...FAST });
    const client = createLockClient(backend);
    expect(await refusal(client.acquire('jobs'))).to.include({ code: 'INVALID_ARGUMENT', retryable: false });
    expect((await refusal(client.acquire('jobs'))).message).to.contain('setquota');
    await client.close();
    const left = await asOperator(endpoint, (zk) =>
      zk.stat('/app/jobs').then((stat) => stat?.childCount ?? 0),
    );
    expect(left).to.equal(0);
  });
});
