import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { measure } from '../src/measure.ts';
import { nodeClients } from '../src/node-clients.ts';
import type { BenchServer } from '../src/server.ts';
import {
  COUNTED,
  changesOf,
  countingAt,
  expectAtMost,
  handOver,
  lineUp,
  settled,
  stores,
  times,
} from './counts.ts';

const SPREAD = 40;
const HAND_OFFS = 40;
const FEW = 100;
const MANY = 2_000;
const FLAT = 1.25;
const HELD = 1_000;
const IDLE_TTL_MS = 10_000;
const IDLE_MS = 8_000;
const IDLE_READS = 3;
const IDLE = ['requests', 'LeaseKeepAlive', 'Watch'];
const PACE = { ms: 0, warm: 0, rounds: 0 };
/**
 * Largest number of JavaScript function calls in which a client acquires and releases a free lock. It was
 * counted on Node 20, since it differs between releases of Node. It varies by about 20, because a response
 * may arrive in two parts, which are handled by more calls.
 */
const MAX_CALLS = {
  etcd: [
    { client: 'queuelock, http2', calls: 1_950, callsOfRun: 2_300 },
    { client: 'queuelock, socket', calls: 1_000, callsOfRun: 1_350 },
  ],
  zookeeper: [{ client: 'queuelock, wire', calls: 1_000, callsOfRun: 1_350 }],
} as const;

for (const counted of stores) {
  describe(`requests to ${counted.title}`, function () {
    this.timeout(300_000);
    const at = countingAt(counted);

    it('do not exceed the expected number for a hand-off among waiters of four processes', async () => {
      const client = nodeClients.find(({ name }) => name === counted.client)!;
      const cell = { store: counted.store, medium: 'disk', scenario: 'spread', size: SPREAD } as const;
      const command = await client.command();
      const words = client.words(cell, PACE)!;
      const values = await measure(at.server, { client, command, words, cell, pace: PACE, name: 'spread' });
      const cost = Object.entries(values).flatMap(([key, each]) => {
        const what = COUNTED.find((counter) => key.toLowerCase() === `handoff${counter}`);
        return what === undefined ? [] : [[what, Math.round(each * (SPREAD + 1))] as const];
      });
      // On etcd, a holder that holds for at least 1 ms writes into the label of its own entry that it holds.
      // After a shorter hold, the next waiter reads the queue at its grant.
      const each = { requests: 2, reads: 1, writes: 2, events: 2 };
      expectAtMost(Object.fromEntries(cost), times(SPREAD + 1, each));
    });

    for (const most of MAX_CALLS[counted.store])
      it(`take no more JavaScript function calls than expected when a client acquires a free lock (${most.client})`, async function () {
        if (!process.versions.node.startsWith('20.')) this.skip();
        const cell = { store: counted.store, medium: 'disk', scenario: 'cold', size: 1 } as const;
        const client = nodeClients.find(({ name, words }) => name === most.client && words(cell, PACE))!;
        const command = await client.command();
        const words = client.words(cell, PACE)!;
        const values = await measure(at.server, { client, command, words, cell, pace: PACE, name: 'cold' });
        expect(values['calls']).to.be.within(500, most.calls);
        expect(values['runCalls']).to.be.within(500, most.callsOfRun);
      });

    it(`do not increase when a session has ${HELD.toLocaleString('en')} idle holds instead of one`, async () => {
      const idle = async (holds: number, most = Infinity): Promise<number> => {
        const client = await at.connect(at.server.endpoint, { ttlMs: IDLE_TTL_MS });
        await Promise.all(Array.from({ length: holds }, (_, i) => client.acquire(`held-${holds}-${i}`)));
        // Requires only two equal reads of the counters in a row, because there is no time for a third one
        // between two heartbeats.
        await settled(at.server, 2);
        // Uses the lowest of several counts. On a busy machine, late requests of the client's start may add
        // to one count. Requests that the idle holds cause would be in every count.
        let requested = await requestsWhileIdle(at.server);
        for (let looks = 1; looks < IDLE_READS && requested > most; looks += 1)
          requested = await requestsWhileIdle(at.server);
        await client.abandon();
        return requested;
      };
      const one = await idle(1);
      // The number of requests may differ by two, because a heartbeat consists of two requests, and one
      // heartbeat more or less may be counted.
      expect(await idle(HELD, one + 2)).to.be.within(one - 2, one + 2);
    });

    it(`do not grow in bytes per hand-off when the number of waiters grows from ${FEW} to ${MANY.toLocaleString('en')}`, async () => {
      const proxy = await at.proxy();
      const client = await at.connect(proxy.endpoint);
      const bytesOf = async (waiters: number): Promise<number> => {
        const line = await lineUp(client, `flat-${waiters}`, waiters);
        await counted.untilWatching(at.server.endpoint, waiters);
        const costs: number[] = [];
        for (let i = 0; i < HAND_OFFS; i += 1) {
          const before = proxy.toClient.bytes + proxy.toServer.bytes;
          await handOver(line.slice(i, i + 2), 1);
          costs.push(proxy.toClient.bytes + proxy.toServer.bytes - before);
        }
        // Uses the lowest cost of several hand-offs. Each waiter reads the queue at long intervals, and on a
        // busy machine these reads add to most hand-offs.
        return Math.min(...costs);
      };
      const few = await bytesOf(FEW);
      expect((await bytesOf(MANY)) / few).to.be.at.most(FLAT);
    });
  });
}

async function requestsWhileIdle(server: BenchServer): Promise<number> {
  const before = await server.counters();
  await pause(IDLE_MS);
  const changes = changesOf(before, await server.counters(), IDLE);
  return IDLE.reduce((sum, what) => sum + (changes[what] ?? 0), 0);
}
