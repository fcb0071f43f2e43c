import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createLockClient, type LockClient } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import type { TcpProxy } from '@queuelock/harness/faults';
import { startRedisSentinel } from '@queuelock/harness/services/redis-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { Fenced } from './fenced.ts';
import { requested } from './asked.ts';
import { startReplicated, type Replicated } from './replicated.ts';

const WITHIN_MS = 60_000;
// The TTL is longer than a failover takes. The client sends a heartbeat every quarter of the TTL.
const TTL_MS = 60_000;

describe('a client of a Redis with a Sentinel', () => {
  let replicated: Replicated;
  let primary: ProcessService;
  let replica: ProcessService;
  let sentinel: ProcessService;
  let replication: TcpProxy;
  const locks: LockClient[] = [];
  const connections: Redis[] = [];

  beforeEach(async () => {
    replicated = await startReplicated(WITHIN_MS);
    ({ primary, replica, replication } = replicated);
    sentinel = await startRedisSentinel(primary);
    const knows = async (): Promise<void> => {
      expect(await requested(sentinel, ['SENTINEL', 'REPLICAS', 'locks'])).to.contain(replica.endpoint);
    };
    await until(knows, { what: 'the Sentinel knows the replica', withinMs: WITHIN_MS });
  });
  afterEach(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
    for (const connection of connections.splice(0)) connection.disconnect();
    await Promise.all([sentinel.stop(), replicated.stop()]);
  });

  function client(): LockClient {
    const [host = '', port] = sentinel.endpoint.split(':');
    const connection = new Redis({
      sentinels: [{ host, port: Number(port) }],
      name: 'locks',
      lazyConnect: true,
    });
    connections.push(connection);
    const made = createLockClient(redis({ client: connection }), { ttlMs: TTL_MS });
    locks.push(made);
    return made;
  }

  async function untilPromoted(): Promise<void> {
    const [, port = ''] = replica.endpoint.split(':');
    const isPromoted = async (): Promise<void> => {
      expect(await requested(sentinel, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'locks'])).to.contain(port);
    };
    await until(isPromoted, { what: 'the replica is promoted', withinMs: WITHIN_MS });
  }

  it('keeps its hold and its position after the replica was promoted', async () => {
    const [holder, waiter] = [client(), client()];
    const held = await holder.acquire('report');
    const waiting = waiter.acquire('report');
    const knows = async (): Promise<void> => {
      expect(await requested(replica, ['ZCARD', '{queuelock}:line:report'])).to.equal('2');
    };
    await until(knows, { what: 'the replica knows the line', withinMs: WITHIN_MS });
    await primary.kill();
    await untilPromoted();
    expect(held.held).to.equal(true);
    await held.release();
    const next = await waiting;
    expect(next.token > held.token).to.equal(true);
    await next.release();
  }).timeout(WITHIN_MS * 3);

  it('is refused by a fenced resource after a lagging replica has granted another client', async () => {
    const earlier = client();
    await earlier.run('warm', async () => undefined);
    // From here on, the replica receives no writes of the primary.
    replication.toClient.blackhole();
    const held = await earlier.acquire('report');
    // A frozen server breaks no connection, so the client does not notice before its next heartbeat.
    await primary.freeze();
    await untilPromoted();
    const later = await client().acquire('report');
    expect([held.held, later.held], 'two hold').to.deep.equal([true, true]);
    const resource = new Fenced();
    expect(later.token > held.token).to.equal(true);
    expect(resource.write(later.token, 'later')).to.equal(true);
    expect(resource.write(held.token, 'earlier')).to.equal(false);
    expect(resource.written).to.deep.equal(['later']);
    await primary.thaw();
  }).timeout(WITHIN_MS * 3);
});
