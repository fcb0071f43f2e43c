import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as later } from 'node:timers/promises';
import { expect } from 'chai';
import { systemClock } from '../src/base/clock.ts';
import { DeadlineQueue, type TimedTask } from '../src/kit/deadline-queue.ts';

const TIMEOUT_MS = 40;

function blockLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('a deadline queue', () => {
  const clock = systemClock();
  const queue = new DeadlineQueue(TIMEOUT_MS, clock);

  /** Starts a task. Resolves with the milliseconds that have passed when it times out. */
  function timeoutOf(starts = 1): Promise<number> {
    return new Promise((resolve) => {
      let begunAt = 0;
      const task: TimedTask = { timedOut: () => resolve(clock.now() - begunAt) };
      for (let i = 0; i < starts; i += 1) {
        blockLoop(2);
        begunAt = clock.now();
        queue.start(task);
      }
    });
  }

  it('ends each task after the full timeout, even if tasks overlap or are started twice', async () => {
    const first = timeoutOf();
    const tookMs = await Promise.all([first, timeoutOf(), timeoutOf(5), first.then(() => timeoutOf())]);
    for (const ms of tookMs) expect(ms).to.be.at.least(TIMEOUT_MS);
  });

  it('accepts a task that another task starts at its timeout', async () => {
    const order = await new Promise<string[]>((resolve) => {
      const ended: string[] = [];
      const second = { timedOut: () => resolve([...ended, 'second']) };
      queue.start({
        timedOut: () => {
          ended.push('first');
          queue.start(second);
        },
      });
    });
    expect(order).to.deep.equal(['first', 'second']);
  });

  it('does not end a cancelled task', async () => {
    const ended: string[] = [];
    const cancelled = { timedOut: () => ended.push('cancelled') };
    queue.start(cancelled);
    const later = timeoutOf();
    queue.cancel(cancelled);
    await later;
    expect(ended).to.be.empty;
  });

  it('does not end a task that is cancelled by a reply which arrived while the process was busy', async () => {
    const ended: string[] = [];
    const task = { timedOut: () => ended.push('too early') };
    queue.start(task);
    // Simulates a reply that the event loop reads after its timers have fired.
    setImmediate(() => queue.cancel(task));
    blockLoop(2 * TIMEOUT_MS);
    await nextTurn();
    await timeoutOf();
    expect(ended).to.be.empty;
  });

  it('ends the other tasks after a task has thrown', async () => {
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const thrown = once(process, 'uncaughtException');
    try {
      const failure = new Error('it throws');
      queue.start({
        timedOut: () => {
          throw failure;
        },
      });
      expect(await Promise.race([timeoutOf(), later(500, 'never')])).to.be.a('number');
      expect((await thrown)[0]).to.equal(failure);
      expect(await Promise.race([timeoutOf(), later(500, 'never')])).to.be.a('number');
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
  });
});
