import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { livedSince } from '@queuelock/harness/lived-time';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import { Bench, SINGLE, outcome } from './bench.ts';

describe('an attempt to connect to ZooKeeper', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  /** Makes a connection attempt that must fail. Returns how long the attempt took, in milliseconds. */
  async function failed(
    options: ZooKeeperOptions,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<number> {
    const backend = bench.keep(zookeeper({ ...SINGLE, ...options }), (made) => made.close());
    const startedAt = performance.now();
    expect(await outcome(backend.open(4_000, signal))).to.not.equal('fine');
    return livedSince(startedAt);
  }

  it('with a timeout of 300 ms fails within a second', async () => {
    const [port] = await pickPorts(1);
    const connectTimeoutMs = 300;
    expect(await failed({ hosts: [`127.0.0.1:${port!}`], connectTimeoutMs })).to.be.lessThan(1_000);
    const { endpoint } = await sharedZooKeeper('connecting of @queuelock/zookeeper');
    const proxy = bench.keep(await startProxy(endpoint), (started) => started.refuse());
    proxy.toServer.blackhole();
    expect(await failed({ hosts: [proxy.endpoint], connectTimeoutMs })).to.be.lessThan(1_000);
    proxy.cut();
  });

  it('ends within a second when it is aborted', async () => {
    const [port] = await pickPorts(1);
    const neverAborted = { hosts: [`127.0.0.1:${port!}`], connectTimeoutMs: 50_000 };
    expect(await failed(neverAborted, AbortSignal.timeout(50))).to.be.lessThan(1_000);
  });
});
