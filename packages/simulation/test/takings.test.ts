import { expect } from 'chai';
import type { Held } from '../src/run/held.ts';
import { Judge } from '../src/run/judge.ts';
import { Takings } from '../src/run/takings.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('the rule about holds that begin after another session took their queue', () => {
  const LATER_MS = 1_000;

  /**
   * Begins two holds of one session, a second apart, while a later entry of another session holds. Returns
   * the rule that this breaks.
   */
  async function brokenBy(limit: number): Promise<string | undefined> {
    const timeline = new Timeline();
    const judge = new Judge(() => timeline.now());
    const takings = new Takings(timeline, judge);
    const machine = new Machine(timeline, 'c0', { rate: 1, hasPromises: true });
    const holdOf = (key: string, token: bigint): Held => ({
      ...{ who: key, machine, queue: 'a', key, token, limit, permits: 1, shared: false },
      ...{ isDowngrading: false, isOver: false, remainingMs: () => LATER_MS },
    });
    const taker = holdOf('a/6b-three', 3n);
    takings.check(holdOf('a/5a-one', 1n), [taker]);
    await timeline.run(LATER_MS);
    takings.check(holdOf('a/5a-two', 2n), [taker]);
    return judge.broken;
  }

  it('is broken when a session continues to hold what another session has taken', async () => {
    expect(await brokenBy(1)).to.equal('taken');
  });

  it('is kept when the permits of both fit into the limit', async () => {
    expect(await brokenBy(2)).to.equal(undefined);
  });
});
