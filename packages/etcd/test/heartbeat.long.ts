import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import { medianOf } from '@queuelock/harness/median';
import { benchOf } from './bench.ts';
import { Clients, codeOf } from './clients.ts';

const RUNS = 3;

describe('a session on etcd', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;

  async function medianMs(work: () => Promise<unknown>): Promise<number> {
    const durations: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const startedAt = performance.now();
      await work();
      durations.push(livedSince(startedAt));
    }
    return medianOf(durations);
  }

  it('is not opened when no member responds, and the open call rejects after one request timeout per member', async () => {
    for (const proxy of bench.proxies) proxy.toClient.blackhole();
    const durations = await medianMs(async () => {
      const backend = clients.backend({ hosts: hosts(), requestTimeoutMs: 300 });
      expect(await codeOf(backend.open(5_000, new AbortController().signal))).to.equal('UNAVAILABLE');
    });
    expect(durations).to.be.lessThan(1_500);
  });

  it('closes within one second when the server does not respond', async () => {
    const sessions = await Promise.all(
      Array.from({ length: RUNS }, () => clients.session({ hosts: bench.proxies[0].endpoint })),
    );
    bench.proxies[0].toClient.blackhole();
    expect(await medianMs(async () => sessions.pop()!.close())).to.be.lessThan(1_500);
  });
});
