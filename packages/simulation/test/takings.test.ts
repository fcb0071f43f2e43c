import { expect } from 'chai';
import type { Held } from '../src/run/held.ts';
import { Judge } from '../src/run/judge.ts';
import { Takings } from '../src/run/takings.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('the simulation rule for a session whose lock was stolen', () => {
  const TAKER = { key: 'a/6b-other', token: 9n };

  function holdOf({ key, token }: Pick<Held, 'key' | 'token'>, limit: number): Held {
    const timeline = new Timeline();
    const machine = new Machine(timeline, 'c0', { rate: 1, hasPromises: true });
    return {
      ...{ who: key, machine, queue: 'a', key, token, limit, permits: 1, shared: false },
      ...{ isDowngrading: false, isOver: false, remainingMs: () => 1_000 },
    };
  }

  /**
   * Simulates a session that holds three times in a row, for `heldMs` each, after another session has stolen
   * the queue. Returns the violated rule.
   */
  async function ruleBrokenBy(heldMs: number, limit = 1): Promise<string | undefined> {
    const timeline = new Timeline();
    const judge = new Judge(() => timeline.now());
    const takings = new Takings(timeline, judge);
    const others = [holdOf(TAKER, limit)];
    for (const token of [1n, 2n, 3n]) {
      const held = holdOf({ key: `a/5a-${token}`, token }, limit);
      takings.begin(held, others);
      await timeline.run(timeline.now() + heldMs);
      takings.release(held, others);
    }
    return judge.broken;
  }

  it('is violated if the session passes the lock to its own entries for more than 100 ms', async () => {
    expect(await ruleBrokenBy(300)).to.equal('taken');
  });

  it('is kept if the session passes the lock to its own entries for less than 100 ms', async () => {
    expect(await ruleBrokenBy(90)).to.equal(undefined);
  });

  it('is kept if the semaphore has permits for the session and for the client that stole one', async () => {
    expect(await ruleBrokenBy(300, 2)).to.equal(undefined);
  });
});
