import { expect } from 'chai';
import type { ArenaEvent } from '../src/arena/events.ts';
import { Story } from '../src/arena/story.ts';

type Told = readonly [ms: number, id: string, ev: ArenaEvent['ev'], more?: object];

function storyOf(...events: readonly Told[]): string[] {
  const story = new Story();
  for (const [ms, id, ev, more] of events)
    story.add({ t: stampOf(ms), id, ev, name: 'q', n: 1, ...more } as ArenaEvent);
  return story.lines.map(({ kind, text }) => `${kind}: ${text}`);
}

function stampOf(ms: number): string {
  return String(Math.round(ms * 1e6));
}

const until = (ms: number): object => ({ until: stampOf(ms) });
/** Three contenders in the queue; the first one holds. */
const LINE: readonly Told[] = [
  [1, 'a', 'enqueued'],
  [2, 'a', 'acquired', { token: '7' }],
  [3, 'b', 'enqueued'],
  [4, 'c', 'enqueued'],
];
const B_TOLD: Told = [11, 'b', 'told', { admitted: true }];
const HELD = 'grant: a holds: with token 7';

describe('the story of contenders that people disturb', () => {
  it('counts who was told something by a release', () => {
    expect(
      storyOf(...LINE, [10, 'a', 'released'], B_TOLD, [12.5, 'b', 'acquired', { token: '8' }]),
    ).to.deep.equal([HELD, 'grant: b holds: token 7 → 8, 2.5 ms after a released; 1 of 2 waiters woken']);
  });

  it('would tell of a herd, also of what becomes known after the grant', () => {
    const [, line] = storyOf(
      ...LINE,
      [10, 'a', 'released'],
      B_TOLD,
      [12, 'b', 'acquired', { token: '8' }],
      [13, 'c', 'told', { admitted: false }],
    );
    expect(line).to.contain('2 of 2 waiters woken');
  });

  it('does not count who was told that a waiter has gone', () => {
    const lines = storyOf(
      ...LINE,
      [10, 'a', 'released'],
      B_TOLD,
      [12, 'b', 'acquired', { token: '8' }],
      [13, 'd', 'enqueued'],
      [14, 'c', 'crashed'],
      [15, 'd', 'told', { admitted: false }],
    );
    expect(lines[1]).to.contain('1 of 2 waiters woken');
  });

  it('counts nobody where the lock was free', () => {
    expect(
      storyOf(
        [1, 'a', 'enqueued'],
        [2, 'a', 'acquired', { token: '7' }],
        [3, 'a', 'released'],
        [40, 'b', 'enqueued'],
        [41, 'b', 'acquired', { token: '8' }],
      ),
    ).to.deep.equal([HELD, 'grant: b holds: token 7 → 8, 38 ms after a released']);
  });

  it('compares a grant with the proven time of a holder that is frozen', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'frozen', until(2_500)],
        [2_700, 'b', 'told', { admitted: true }],
        [2_800, 'b', 'acquired', { token: '8' }],
        [2_850, 'a', 'expired'],
        [4_000, 'a', 'thawed'],
        [4_001, 'a', 'lost', { reason: 'heartbeat-timeout' }],
      ),
    ).to.deep.equal([
      HELD,
      'disturbance: a is frozen while it holds, its hold is proven for 2.5 s more',
      'grant: b holds: token 7 → 8, 300 ms after the proven time of a, which is frozen, had ended; 1 of 2 waiters woken',
      'loss: the store has removed the entry of a',
      'disturbance: a is thawed and goes on',
      'loss: a learns that it has lost the lock (heartbeat-timeout)',
    ]);
  });

  it('calls it a violation when the next one begins before that', () => {
    const lines = storyOf(
      ...LINE,
      [10, 'a', 'frozen', until(2_500)],
      [11, 'b', 'told', { admitted: true }],
      [2_400, 'b', 'acquired', { token: '8' }],
    );
    expect(lines[2]).to.match(/^violation: b holds: .* 100 ms BEFORE the proven time of a/);
  });

  it('tells that a holder that is cut off gives up before the next one begins', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'cut', until(2_500)],
        [2_500, 'a', 'lost', { reason: 'heartbeat-timeout' }],
        [2_700, 'b', 'told', { admitted: true }],
        [2_700, 'b', 'acquired', { token: '8' }],
        [2_900, 'a', 'mended'],
      ).slice(1),
    ).to.deep.equal([
      'disturbance: a is cut off from the store while it holds, its hold is proven for 2.5 s more',
      'loss: a gives up the lock by its own clock: its proven time is over',
      'grant: b holds: token 7 → 8, 200 ms after a had lost it; 1 of 2 waiters woken',
      'disturbance: a is connected again',
    ]);
  });

  it('one that is thawed in time goes on with its hold', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'frozen', until(2_500)],
        [900, 'a', 'thawed'],
        [1_000, 'a', 'released'],
        [1_001, 'b', 'told', { admitted: true }],
        [1_001, 'b', 'acquired', { token: '8' }],
      ).at(-1),
    ).to.equal('grant: b holds: token 7 → 8, 1.0 ms after a released; 1 of 2 waiters woken');
  });

  it('a store that sees deaths need not wait for the proven time of a holder that was killed', () => {
    expect(
      storyOf(...LINE, [10, 'a', 'crashed'], B_TOLD, [26, 'b', 'acquired', { token: '8' }]).slice(1),
    ).to.deep.equal([
      'disturbance: a was killed while it held',
      'grant: b holds: token 7 → 8, 16 ms after a was killed; 1 of 2 waiters woken',
    ]);
  });

  it('knows of those who hold without being contenders', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'released'],
        [11, 'anna', 'stranger'],
        [5_000, 'b', 'told', { admitted: true }],
        [5_001, 'b', 'acquired', { token: '9' }],
      ).at(-1),
    ).to.equal('grant: b holds: token 7 → 9, after anna; 1 of 2 waiters woken');
  });
});
