import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { asked } from './asked.ts';
import { Fenced } from './fenced.ts';
import { startReplicated, type Replicated } from './replicated.ts';

const WITHIN_MS = 30_000;

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

  function client({ endpoint }: Pick<ProcessService, 'endpoint'>): LockClient {
    const made = createLockClient(redis({ url: `redis://${endpoint}` }), { ttlMs: 10_000 });
    locks.push(made);
    return made;
  }

  it('lets two clients hold, and the fenced resource refuses the earlier one', async () => {
    const earlier = client(primary);
    await earlier.run('warm', async () => undefined);
    // From now on the replica learns nothing.
    replication.toClient.blackhole();
    const held = await earlier.acquire('report');
    await asked(replica, ['REPLICAOF', 'NO', 'ONE']);
    const resource = new Fenced();
    const later = await client(replica).acquire('report');
    expect([held.held, later.held], 'two hold').to.deep.equal([true, true]);
    expect(later.token > held.token).to.equal(true);
    expect(resource.write(later.token, 'later')).to.equal(true);
    expect(resource.write(held.token, 'earlier')).to.equal(false);
    expect(resource.written).to.deep.equal(['later']);
  }).timeout(WITHIN_MS * 2);

  it('is told to the holder whose lock it does not know', async () => {
    let isPromoted = false;
    const proxy = await startProxy(() => (isPromoted ? replica.endpoint : primary.endpoint));
    const holder = client(proxy);
    await holder.run('warm', async () => undefined);
    replication.toClient.blackhole();
    const held = await holder.acquire('report');
    // The session was opened before the replica was cut off, so it goes on; the entry is not known there.
    const loss = new Promise((resolve) => {
      held.signal.addEventListener('abort', () => resolve(held.signal.reason));
    });
    await asked(replica, ['REPLICAOF', 'NO', 'ONE']);
    isPromoted = true;
    proxy.cut();
    await primary.kill();
    expect(await loss).to.have.property('code', 'OWNERSHIP_LOST');
    await holder.close();
    await proxy.stop();
  }).timeout(WITHIN_MS * 2);

  it('and knows a lock that was given back keeps nobody waiting behind it', async () => {
    let isPromoted = false;
    const proxy = await startProxy(() => (isPromoted ? replica.endpoint : primary.endpoint));
    const holder = client(proxy);
    const held = await holder.acquire('report');
    const knows = async (): Promise<void> => {
      expect(await asked(replica, ['ZCARD', '{queuelock}:line:report'])).to.equal('1');
    };
    await until(knows, { what: 'the replica knows the lock', withinMs: WITHIN_MS });
    replication.toClient.blackhole();
    await held.release();
    await asked(replica, ['REPLICAOF', 'NO', 'ONE']);
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
