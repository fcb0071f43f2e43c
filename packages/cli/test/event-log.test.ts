import { expect } from 'chai';
import type { ArenaEvent } from '../src/arena/events.ts';
import { EventLog } from '../src/arena/event-log.ts';

type LogSpec = readonly [ms: number, id: string, ev: ArenaEvent['ev'], more?: object];

function storyOf(...events: readonly LogSpec[]): string[] {
  const story = new EventLog();
  for (const [ms, id, ev, more] of events)
    story.add({ t: stampOf(ms), id, ev, name: 'q', n: 1, ...more } as ArenaEvent);
  return story.entries.map(({ kind, text }) => `${kind}: ${text}`);
}

function stampOf(ms: number): string {
  return String(Math.round(ms * 1e6));
}

const until = (ms: number): object => ({ until: stampOf(ms) });
/** Events of three contenders that join the queue one after another. The first one is granted the lock. */
const LINE: readonly LogSpec[] = [
  [1, 'a', 'enqueued'],
  [2, 'a', 'acquired', { token: '7' }],
  [3, 'b', 'enqueued'],
  [4, 'c', 'enqueued'],
];
const B_NOTIFIED: LogSpec = [11, 'b', 'notified', { admitted: true }];
const HELD = 'grant: a holds: with token 7';

describe('the event log of the demo page', () => {
  it('counts how many waiters a release notified', () => {
    expect(
      storyOf(...LINE, [10, 'a', 'released'], B_NOTIFIED, [12.5, 'b', 'acquired', { token: '8' }]),
    ).to.deep.equal([HELD, 'grant: b holds: token 7 → 8, 2.5 ms after a released; 1 of 2 waiters woken']);
  });

  it('counts a notification of a release even if it is logged after the grant', () => {
    const [, line] = storyOf(
      ...LINE,
      [10, 'a', 'released'],
      B_NOTIFIED,
      [12, 'b', 'acquired', { token: '8' }],
      [13, 'c', 'notified', { admitted: false }],
    );
    expect(line).to.contain('2 of 2 waiters woken');
  });

  it('does not count notifications that the departure of a waiter caused', () => {
    const lines = storyOf(
      ...LINE,
      [10, 'a', 'released'],
      B_NOTIFIED,
      [12, 'b', 'acquired', { token: '8' }],
      [13, 'd', 'enqueued'],
      [14, 'c', 'crashed'],
      [15, 'd', 'notified', { admitted: false }],
    );
    expect(lines[1]).to.contain('1 of 2 waiters woken');
  });

  it('counts no waiters when a contender is granted a lock that was free', () => {
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

  it('compares the time of the next grant with the end of the proven time of a frozen holder', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'frozen', until(2_500)],
        [2_700, 'b', 'notified', { admitted: true }],
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
      'disturbance: a is thawed and continues',
      'loss: a learns that it has lost the lock (heartbeat-timeout)',
    ]);
  });

  it("reports a violation when the next hold begins before the frozen holder's proven time ends", () => {
    const lines = storyOf(
      ...LINE,
      [10, 'a', 'frozen', until(2_500)],
      [11, 'b', 'notified', { admitted: true }],
      [2_400, 'b', 'acquired', { token: '8' }],
    );
    expect(lines[2]).to.match(/^violation: b holds: .* 100 ms BEFORE the proven time of a/);
  });

  it('shows that a cut-off holder gives up the lock before the next hold begins', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'cut', until(2_500)],
        [2_500, 'a', 'lost', { reason: 'heartbeat-timeout' }],
        [2_700, 'b', 'notified', { admitted: true }],
        [2_700, 'b', 'acquired', { token: '8' }],
        [2_900, 'a', 'mended'],
      ).slice(1),
    ).to.deep.equal([
      'disturbance: a is cut off from the store while it holds, its hold is proven for 2.5 s more',
      'loss: a gives up the lock by its own clock: its proven time has ended',
      'grant: b holds: token 7 → 8, 200 ms after a lost it; 1 of 2 waiters woken',
      'disturbance: a is connected again',
    ]);
  });

  it('shows that a frozen holder continues its hold when it thaws within its proven time', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'frozen', until(2_500)],
        [900, 'a', 'thawed'],
        [1_000, 'a', 'released'],
        [1_001, 'b', 'notified', { admitted: true }],
        [1_001, 'b', 'acquired', { token: '8' }],
      ).at(-1),
    ).to.equal('grant: b holds: token 7 → 8, 1.0 ms after a released; 1 of 2 waiters woken');
  });

  it('reports no violation when the store detects the death of the holder and grants the lock early', () => {
    expect(
      storyOf(...LINE, [10, 'a', 'crashed'], B_NOTIFIED, [26, 'b', 'acquired', { token: '8' }]).slice(1),
    ).to.deep.equal([
      'disturbance: a was killed while it held',
      'grant: b holds: token 7 → 8, 16 ms after a was killed; 1 of 2 waiters woken',
    ]);
  });

  it('shows holders that are not contenders of the demo', () => {
    expect(
      storyOf(
        ...LINE,
        [10, 'a', 'released'],
        [11, 'anna', 'stranger'],
        [5_000, 'b', 'notified', { admitted: true }],
        [5_001, 'b', 'acquired', { token: '9' }],
      ).at(-1),
    ).to.equal('grant: b holds: token 7 → 9, after anna; 1 of 2 waiters woken');
  });
});
