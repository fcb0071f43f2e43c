import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import type { TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, eventually, newQueue, outcome, newSpec } from '../bench.ts';
import { WireLink } from '../../src/wire/link.ts';
import { Pipeline } from '../../src/wire/pipeline.ts';
import { proxyTo } from '../own-server.ts';

const SESSIONS = 20;
const CUTS = 1_000;
// How many times the connections are cut before the measurement. By then, all code is compiled, and no
// internal list of the client grows any more.
const WARM_ROUNDS = 20;
const MAX_BYTES = 3 * 2 ** 20;

describe('ZooKeeper sessions whose connections are cut 1,000 times', function () {
  this.timeout(300_000);
  const bench = new Bench();
  afterEach(() => bench.clear());

  /**
   * Enqueues and removes an entry repeatedly until the signal aborts; resolves with the number of
   * repetitions.
   */
  async function cycles(session: Session, stop: AbortSignal): Promise<number> {
    const queue = newQueue();
    let done = 0;
    while (!stop.aborted) {
      const entry = newSpec(queue);
      const entered = await outcome(session.enqueue(entry));
      await eventually(async () => (await outcome(session.remove(queue, entry.id))) === 'fine');
      if (entered === 'fine') done += 1;
    }
    return done;
  }

  /** Breaks all connections during requests, and waits until every session is renewed. */
  async function cut(proxy: TcpProxy, sessions: readonly Session[]): Promise<void> {
    proxy.cut();
    const isBack = (session: Session): Promise<void> =>
      eventually(async () => (await outcome(session.renew(new AbortController().signal))) === 'fine');
    await Promise.all(sessions.map(isBack));
  }

  it('use no more memory and sockets than before', async () => {
    const { endpoint } = await sharedZooKeeper('cuts of @queuelock/zookeeper');
    const proxy = await proxyTo(bench, endpoint);
    const backend = bench.backend(proxy.endpoint);
    const open = (): Promise<Session> => backend.open(10_000, new AbortController().signal);
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, open));
    const stop = new AbortController();
    const working = sessions.map((session) => cycles(session, stop.signal));
    for (let round = 0; round < WARM_ROUNDS; round += 1) await cut(proxy, sessions);
    const before = await inUse();
    for (let round = 0; round < CUTS / SESSIONS; round += 1) await cut(proxy, sessions);
    const after = await inUse();
    stop.abort();
    const done = await Promise.all(working);
    const reported = `${JSON.stringify(before)}, then ${JSON.stringify(after)}; ${done.join(' ')} cycles`;
    console.info(`      ${reported}`);
    expect(after.bytes - before.bytes, reported).to.be.lessThan(MAX_BYTES);
    expect(after.files - before.files, reported).to.be.at.most(SESSIONS);
    // A session has at most one connection, even while it reconnects.
    expect(after.links, reported).to.be.at.most(SESSIONS);
    expect(after.pipelines, reported).to.be.at.most(SESSIONS);
    // Handles are Node's timers and sockets. Their number depends on the calls in flight, of which each
    // session has a few.
    expect(after.handles - before.handles, reported).to.be.at.most(4 * SESSIONS);
    expect(Math.min(...done), reported).to.be.greaterThan(0);
    await backend.close();
    await eventually(() => proxy.connections.length === 0);
  });
});

interface Use {
  readonly bytes: number;
  readonly files: number;
  readonly handles: number;
  readonly links: number;
  readonly pipelines: number;
}

/**
 * Measures memory, open files, handles of Node and connections after garbage collection. Returns the minimum
 * of ten samples.
 */
async function inUse(): Promise<Use> {
  setFlagsFromString('--expose_gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const reads: Use[] = [];
  for (let read = 0; read < 10; read += 1) {
    await nextTurn();
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    reads.push({
      bytes: heapUsed + external,
      files: readdirSync('/proc/self/fd').length,
      handles: process.getActiveResourcesInfo().length,
      links: queryObjects(WireLink, { format: 'count' }),
      pipelines: queryObjects(Pipeline, { format: 'count' }),
    });
  }
  const min = (of: keyof Use): number => Math.min(...reads.map((read) => read[of]));
  return {
    bytes: min('bytes'),
    files: min('files'),
    handles: min('handles'),
    links: min('links'),
    pipelines: min('pipelines'),
  };
}
