import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { livedSince } from '@queuelock/harness/lived-time';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import { Bench, SINGLE, outcome } from './bench.ts';

describe('connecting to ZooKeeper in vain', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  /** Milliseconds until it failed. */
  async function failed(
    options: ZooKeeperOptions,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<number> {
    const backend = bench.keep(zookeeper({ ...SINGLE, ...options }), (made) => made.close());
    const startedAt = performance.now();
    expect(await outcome(backend.open(4_000, signal))).to.not.equal('fine');
    return livedSince(startedAt);
  }

  it('for 300 ms fails in less than a second where nobody listens, and where nothing is said', async () => {
    const [port] = await pickPorts(1);
    const connectTimeoutMs = 300;
    expect(await failed({ hosts: [`127.0.0.1:${port!}`], connectTimeoutMs })).to.be.lessThan(1_000);
    const { endpoint } = await sharedZooKeeper('connecting of @queuelock/zookeeper');
    const proxy = bench.keep(await startProxy(endpoint), (started) => started.refuse());
    proxy.toServer.blackhole();
    expect(await failed({ hosts: [proxy.endpoint], connectTimeoutMs })).to.be.lessThan(1_000);
    proxy.cut();
  });

  it('ends in less than a second when it is aborted', async () => {
    const [port] = await pickPorts(1);
    const patient = { hosts: [`127.0.0.1:${port!}`], connectTimeoutMs: 50_000 };
    expect(await failed(patient, AbortSignal.timeout(50))).to.be.lessThan(1_000);
  });
});
