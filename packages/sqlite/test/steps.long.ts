import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { livedSince } from '@queuelock/harness/lived-time';
import { loadDriver } from '../src/driver/driver.ts';
import { admitted, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';
import { percentile } from './contest.ts';

const { DatabaseSync } = await loadDriver();

describe('steps on a SQLite file', () => {
  const clients = new Clients();

  it('block the event loop for less than 20 ms in the median while the file is locked', async () => {
    const session = await clients.session();
    const others = new DatabaseSync(clients.file);
    others.exec('begin immediate');
    const entered = session.enqueue(newSpec());
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    delay.disable();
    expect(delay.percentile(50) / 1e6).to.be.lessThan(20);
    others.exec('commit');
    await entered;
    others.close();
  });
});

describe('a long queue in a SQLite file', () => {
  const clients = new Clients();

  /** Returns the CPU time in milliseconds that a hand-off takes, in a queue with `depth` entries. */
  async function cost(depth: number): Promise<number> {
    const session = await clients.session();
    const queue = `line of ${depth}`;
    const line = await Promise.all(
      Array.from({ length: depth }, async () => {
        const spec = newSpec({ queue });
        return { spec, placement: await session.enqueue(spec) };
      }),
    );
    const turns = line.map(({ placement }) => admitted(placement));
    const costs: number[] = [];
    for (let position = 0; position < 100; position += 1) {
      const before = process.cpuUsage();
      await session.remove(queue, line[position]!.spec.id);
      await turns[position + 1];
      const { user, system } = process.cpuUsage(before);
      costs.push((user + system) / 1_000);
    }
    await session.close();
    await Promise.allSettled(turns);
    return percentile(costs, 0.5);
  }

  it('of 1,000 entries hands off in less than three times the time of a queue of 100 entries', async () => {
    await cost(101);
    const short = await cost(101);
    const long = await cost(1_101);
    console.log({ short, long });
    expect(long).to.be.lessThan(3 * short);
  }).timeout(60_000);
});

describe('a process that has used a SQLite file', () => {
  const clients = new Clients();

  it('ends within two seconds after all its backends are closed', async () => {
    const script = fileURLToPath(new URL('./whole-life.ts', import.meta.url));
    const child = fork(script, [clients.file]);
    const exit = once(child, 'exit');
    await once(child, 'message');
    child.disconnect();
    const closedAt = performance.now();
    expect(await exit).to.deep.equal([0, null]);
    expect(livedSince(closedAt)).to.be.lessThan(2_000);
  }).timeout(30_000);
});
