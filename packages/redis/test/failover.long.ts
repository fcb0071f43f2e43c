import { expect } from 'chai';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { requested } from './asked.ts';
import { Fenced } from './fenced.ts';
import { startReplicated, type Replicated } from './replicated.ts';

const WITHIN_MS = 30_000;

function lossOf({ signal }: Ownership): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason));
  });
}

/** Returns what the command `doctor` of the package `@queuelock/cli` reports about a server. */
async function adviceOf({ endpoint }: Pick<ProcessService, 'endpoint'>): Promise<string> {
  const backend = redis({ url: `redis://${endpoint}` });
  const findings = await backend.diagnose!('');
  await backend.close();
  return findings.flatMap(({ level, text }) => (level === 'warning' ? [text] : [])).join('\n');
}

describe('a replica of Redis that lags and takes over', () => {
  let replicated: Replicated;
  let primary: ProcessService;
  let replica: ProcessService;
  let replication: TcpProxy;
  const locks: LockClient[] = [];

  beforeEach(async () => {
    replicated = await startReplicated(WITHIN_MS);
    ({ primary, replica, replication } = replicated);
  });
  afterEach(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
    await replicated.stop();
  });

  function client({ endpoint }: Pick<ProcessService, 'endpoint'>, ttlMs = 10_000): LockClient {
    const made = createLockClient(redis({ url: `redis://${endpoint}` }), { ttlMs });
    locks.push(made);
    return made;
  }

  it('lets a second client hold, and a fenced resource refuses the earlier holder', async () => {
    const earlier = client(primary);
    await earlier.run('warm', async () => undefined);
    // From here on, the replica receives no writes of the primary. So the replica does not know the hold that
    // begins now.
    replication.toClient.blackhole();
    const held = await earlier.acquire('report');
    await requested(replica, ['REPLICAOF', 'NO', 'ONE']);
    const resource = new Fenced();
    const later = await client(replica).acquire('report');
    expect([held.held, later.held], 'two hold').to.deep.equal([true, true]);
    expect(later.token > held.token).to.equal(true);
    expect(resource.write(later.token, 'later')).to.equal(true);
    expect(resource.write(held.token, 'earlier')).to.equal(false);
    expect(resource.written).to.deep.equal(['later']);
  }).timeout(WITHIN_MS * 2);

  it('does not end the earlier hold while the old primary confirms heartbeats', async () => {
    const earlier = client(primary, 1_000);
    const held = await earlier.acquire('report');
    replication.toClient.blackhole();
    await requested(replica, ['REPLICAOF', 'NO', 'ONE']);
    const later = await client(replica).acquire('report');
    const leaseEnds = async (): Promise<number> =>
      Number(
        (await requested(primary, ['ZRANGE', '{queuelock}:sessions', '0', '0', 'WITHSCORES'])).split(',')[1],
      );
    const before = await leaseEnds();
    const isRenewed = async (): Promise<void> => {
      expect((await leaseEnds()) - before).to.be.above(3_000_000);
    };
    await until(isRenewed, { what: 'the old primary renews the lease thrice', withinMs: WITHIN_MS });
    expect([held.held, later.held], 'two hold').to.deep.equal([true, true]);
  }).timeout(WITHIN_MS * 2);

  it('ends the earlier hold if the old primary is configured to reject writes without a replica', async () => {
    const settings = ['min-replicas-to-write', '1', 'min-replicas-max-lag', '1'];
    await requested(primary, ['CONFIG', 'SET', ...settings]);
    expect(await adviceOf(primary)).to.contain('the earlier hold ends at its deadline');
    const held = await client(primary, 2_000).acquire('report');
    const loss = lossOf(held);
    replication.toClient.blackhole();
    replication.toServer.blackhole();
    await requested(replica, ['REPLICAOF', 'NO', 'ONE']);
    const later = await client(replica).acquire('report');
    expect(await loss).to.have.property('code', 'OWNERSHIP_LOST');
    expect(later.held).to.equal(true);
  }).timeout(WITHIN_MS * 2);

  it('causes a warning of the diagnosis if the primary accepts writes without a replica', async () => {
    expect(await adviceOf(primary)).to.contain('renews the earlier hold without end');
  }).timeout(WITHIN_MS);

  it('ends a hold whose entry the replica has not received', async () => {
    let isPromoted = false;
    const proxy = await startProxy(() => (isPromoted ? replica.endpoint : primary.endpoint));
    const holder = client(proxy);
    await holder.run('warm', async () => undefined);
    replication.toClient.blackhole();
    const held = await holder.acquire('report');
    // The session was opened before the replica was cut off, so the replica knows the session. The entry was added after that, so the replica does
    // not know it.
    const loss = lossOf(held);
    await requested(replica, ['REPLICAOF', 'NO', 'ONE']);
    isPromoted = true;
    proxy.cut();
    await primary.kill();
    expect(await loss).to.have.property('code', 'OWNERSHIP_LOST');
    await holder.close();
    await proxy.stop();
  }).timeout(WITHIN_MS * 2);

  it('admits waiters although it has not received the release of the hold ahead', async () => {
    let isPromoted = false;
    const proxy = await startProxy(() => (isPromoted ? replica.endpoint : primary.endpoint));
    const holder = client(proxy);
    const held = await holder.acquire('report');
    const knows = async (): Promise<void> => {
      expect(await requested(replica, ['ZCARD', '{queuelock}:line:report'])).to.equal('1');
    };
    await until(knows, { what: 'the replica knows the lock', withinMs: WITHIN_MS });
    replication.toClient.blackhole();
    await held.release();
    await requested(replica, ['REPLICAOF', 'NO', 'ONE']);
    await knows();
    isPromoted = true;
    proxy.cut();
    await primary.kill();
    const next = await client(proxy).acquire('report');
    expect(next.token > held.token).to.equal(true);
    await next.release();
    await holder.close();
    await proxy.stop();
  }).timeout(WITHIN_MS * 2);
});
