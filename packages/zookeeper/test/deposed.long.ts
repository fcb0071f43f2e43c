import { systemClock } from '@queuelock/core/backend';
import { expect } from 'chai';
import { startZooKeeperCluster } from '@queuelock/harness/clusters';
import { Bench, newQueue, outcome } from './bench.ts';
import { connect } from '../src/server/connect.ts';
import { findNode } from '../src/entry/find-node.ts';
import { schemeOf } from '../src/queue/naming.ts';
import { settingsOf } from '../src/api/options.ts';
import { ConnectionPacer } from '../src/base/connection-pacer.ts';

describe('a ZooKeeper leader that has lost its followers unnoticed', function () {
  this.timeout(90_000);
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('replies to a sync, but not to a write that needs a quorum', async () => {
    const settings = { syncLimit: 20 };
    const cluster = bench.keep(await startZooKeeperCluster({ network: 'proxies', settings }), (started) =>
      started.stop(),
    );
    const roles = await Promise.all(cluster.members.map((member) => member.role()));
    const at = roles.indexOf('leader');
    const clock = systemClock();
    const zk = await connect(settingsOf({ hosts: [cluster.endpoints[at]!] }), {
      ttlMs: 10_000,
      clock,
      pacer: new ConnectionPacer(clock),
      signal: new AbortController().signal,
    });
    bench.keep(zk, (open) => open.abandon());
    const location = { root: '', directory: `/${newQueue()}`, scheme: schemeOf('curator') };
    const read = (): Promise<string> =>
      outcome(findNode(zk, location, { id: 'a'.repeat(32), known: undefined }));
    expect(await read()).to.equal('fine');
    const followers = cluster.members.filter((_, other) => other !== at);
    await Promise.all(followers.map((member) => member.freeze()));
    const [synced, found] = await Promise.all([outcome(zk.sync()), read()]);
    await Promise.all(followers.map((member) => member.thaw()));
    expect([synced, found]).to.deep.equal(['fine', 'UNAVAILABLE']);
    expect(await read()).to.be.oneOf(['fine', 'UNAVAILABLE']);
  });
});
