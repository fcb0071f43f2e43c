import { expect } from 'chai';
import type { Clock } from '@queuelock/core/backend';
import { PubSubHealthCheck } from '../src/server/pub-sub-health-check.ts';
import { admitted, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

/** A clock on which no time passes. The test runs the scheduled tasks, one at a time. */
class Steps implements Clock {
  #tasks: (() => void)[] = [];

  now(): number {
    return 0;
  }

  after(_ms: number, task: () => void): () => void {
    this.#tasks.push(task);
    return () => {
      this.#tasks = this.#tasks.filter((each) => each !== task);
    };
  }

  async next(): Promise<void> {
    this.#tasks.shift()?.();
    await new Promise(setImmediate);
  }

  get left(): number {
    return this.#tasks.length;
  }
}

describe('the notification listener of Redis', () => {
  it('reports that published messages do not arrive, but not while the server is down', async () => {
    const clock = new Steps();
    let isUp = true;
    let arrives = true;
    let deaf = 0;
    const check = new PubSubHealthCheck({
      clock,
      withinMs: 1,
      say: async () => {
        if (!isUp) throw new Error('no server');
        if (arrives) check.messageArrived();
      },
      onDeaf: () => (deaf += 1),
    });
    check.begin();
    for (let nth = 0; nth < 4; nth += 1) await clock.next();
    expect(deaf).to.equal(0);
    isUp = false;
    for (let nth = 0; nth < 4; nth += 1) await clock.next();
    expect(deaf).to.equal(0);
    isUp = true;
    arrives = false;
    for (let nth = 0; nth < 2; nth += 1) await clock.next();
    expect(deaf).to.equal(1);
    check.close();
    await clock.next();
    expect(clock.left).to.equal(0);
  });
});

describe('a session that is resumed in its own process', () => {
  const clients = new Clients();

  it('gets its notifications also after the previous client was closed', async () => {
    const backend = clients.connect();
    const [holder, waiter] = [await clients.session(), await clients.session(backend)];
    const held = newSpec();
    await holder.enqueue(held);
    const spec = newSpec();
    await waiter.enqueue(spec);
    const resumed = await backend.resume!(waiter.resumption!, signal);
    const turn = admitted(await resumed.enqueue(spec));
    await waiter.close();
    await holder.remove('jobs', held.id);
    await turn;
    await resumed.close();
  });
});
