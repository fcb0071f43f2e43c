import { Worker } from 'node:worker_threads';
import { isQueueLockError } from '@queuelock/core/backend';
import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import { reserveFor } from './access.ts';
import { Bench, SINGLE, newQueue, outcome, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a connection to ZooKeeper', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let server: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('connecting of @queuelock/zookeeper')).endpoint;
  });
  afterEach(() => bench.clear());

  async function failure(
    options: ZooKeeperOptions,
    on: AbortSignal = signal,
  ): Promise<{ error: Error; ms: number }> {
    const backend = bench.keep(zookeeper({ ...SINGLE, ...options }), (made) => made.close());
    const startedAt = performance.now();
    try {
      await backend.open(4_000, on);
    } catch (error) {
      return { error: error as Error, ms: performance.now() - startedAt };
    }
    throw new Error('it connected');
  }

  it('fails at the timeout when the port is closed, with the endpoint in the message', async () => {
    const [port] = await pickPorts(1);
    const { error, ms } = await failure({
      hosts: [`127.0.0.1:${port!}`],
      chroot: '/a',
      connectTimeoutMs: 300,
    });
    expect(isQueueLockError(error, 'UNAVAILABLE')).to.equal(true);
    expect(error.message).to.include(`zk://127.0.0.1:${port!}/a within 300 ms (connectTimeoutMs)`);
    expect(ms).to.be.at.least(295);
  });

  it('fails at the timeout when the server is silent', async () => {
    const proxy = bench.keep(await startProxy(server), (started) => started.refuse());
    proxy.toServer.blackhole();
    const { error, ms } = await failure({ hosts: [proxy.endpoint], connectTimeoutMs: 300 });
    expect(isQueueLockError(error, 'UNAVAILABLE')).to.equal(true);
    expect(ms).to.be.at.least(295);
    proxy.cut();
  });

  it('fails with the host name in the message when it does not resolve', async () => {
    const { error } = await failure({ hosts: ['no-such-host.invalid'] });
    expect(isQueueLockError(error, 'UNAVAILABLE')).to.equal(true);
    expect(error.message).to.include('zk://no-such-host.invalid:2181 has an address');
  });

  it('rejects with the reason of the signal when it is aborted', async () => {
    const [port] = await pickPorts(1);
    const abort = new AbortController();
    const reason = new Error('changed my mind');
    setTimeout(() => abort.abort(reason), 50);
    const neverAborted = { hosts: [`127.0.0.1:${port!}`], connectTimeoutMs: 50_000 };
    expect((await failure(neverAborted, abort.signal)).error).to.equal(reason);
    expect((await failure({ hosts: [server] }, AbortSignal.abort(reason))).error).to.equal(reason);
  });

  it('is made to the server that is up when others are down', async () => {
    const [one, two] = await pickPorts(2);
    const hosts = [`127.0.0.1:${one!}`, server, `localhost:${two!}`];
    for (let round = 0; round < 5; round += 1) {
      const backend = bench.keep(zookeeper({ hosts, ...SINGLE }), (made) => made.close());
      expect((await backend.open(4_000, signal)).ttlMs).to.equal(4_000);
    }
  });

  it('creates the chroot as persistent nodes', async () => {
    const chroot = `/${newQueue()}/deeper`;
    const session = await bench.backend(server, { chroot }).open(4_000, signal);
    const { key } = await session.enqueue(newSpec('jobs/invoices'));
    expect(key).to.match(new RegExp(`^${chroot}/jobs/invoices/_c_[0-9a-f-]{36}-lock-0000000000$`));
    await session.close();
    expect(await asOperator(server, (zk) => zk.children(chroot))).to.have.members(['.queuelock', 'jobs']);
  });

  it('is refused in a worker thread with transport native', async () => {
    const worker = new Worker(new URL('native-worker.ts', import.meta.url), { workerData: { server } });
    const message = await new Promise<string>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    expect(message).to.match(/INVALID_ARGUMENT.*only in the main thread/);
  });

  it('is refused once the backend is closed', async () => {
    const backend = bench.backend(server);
    await backend.close();
    expect(await outcome(backend.open(4_000, signal))).to.equal('CLOSED');
  });

  it('ends when the backend is closed during the attempt', async () => {
    const [port] = await pickPorts(1);
    const backend = bench.backend(`127.0.0.1:${port!}`);
    const opened = outcome(backend.open(4_000, signal));
    await backend.close();
    expect(await opened).to.equal('CLOSED');
  });
});

describe('credentials for ZooKeeper', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  const alice = { username: 'alice', password: 'right' };
  let server: string;
  let chroot: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('credentials of @queuelock/zookeeper')).endpoint;
    chroot = `/${newQueue()}`;
    await asOperator(server, (zk) => zk.create(chroot, '', 'persistent'));
    await reserveFor(server, chroot, alice);
  });
  afterEach(() => bench.clear());

  it('give access to nodes that are reserved for them', async () => {
    const session = await bench.backend(server, { chroot, auth: alice }).open(4_000, signal);
    expect((await session.enqueue(newSpec('jobs'))).turn.admitted).to.equal(true);
  });

  for (const [what, auth] of [
    ['wrong', { ...alice, password: 'wrong' }],
    ['missing', undefined],
  ] as const) {
    it(`are refused with ACCESS_DENIED when they are ${what}`, async () => {
      const backend = bench.backend(server, { chroot, ...(auth && { auth }) });
      expect(await outcome(backend.open(4_000, signal))).to.equal('ACCESS_DENIED');
    });
  }
});
