import { expect } from 'chai';
import { isMainSilent, nextThreadStep, type ThreadStep } from '../src/session/thread-step.ts';

// With a TTL of 5 s, the main thread sends a heartbeat every 1,250 ms, and each heartbeat proves 4,750 ms.
const PACE = { heartbeatIntervalMs: 1_250, checkInMs: 1_250, maxSilenceMs: 60_000, rehearsalMs: 5_000 };
const KNOWN = { deadline: 14_750, provenAt: 10_000, checkedInAt: 10_000, isOver: false, renewedAt: 10_000 };
const wait = (ms: number): ThreadStep => ({ type: 'wait', ms });

describe('the next step of the heartbeat thread', () => {
  const cases: readonly (readonly [
    title: string,
    known: Partial<typeof KNOWN>,
    now: number,
    step: ThreadStep,
  ])[] = [
    ['waits while the main thread sends its heartbeats', {}, 10_500, wait(1_062.5)],
    [
      'sends a heartbeat when one of the main thread is a quarter of an interval late',
      {},
      11_562.5,
      { type: 'renew' },
    ],
    [
      'waits after its own heartbeat as after one of the main thread',
      { provenAt: 4_000 },
      10_500,
      wait(1_062.5),
    ],
    [
      'sends one at once after it has started, to show that its connection works',
      { renewedAt: -Infinity },
      10_001,
      { type: 'renew' },
    ],
    [
      'sends one for each TTL without its own, to show that its connection works',
      { renewedAt: 5_500 },
      10_500,
      { type: 'renew' },
    ],
    [
      'sends none when the main thread has not checked in for longer than the limit, and looks again later',
      { deadline: 75_000, provenAt: 10_000, renewedAt: 68_000 },
      70_000,
      wait(1_250),
    ],
    [
      'sends one just before the limit',
      { deadline: 75_000, provenAt: 10_000, renewedAt: 68_000 },
      69_999,
      { type: 'renew' },
    ],
    ['ends at the proven deadline', {}, 14_750, { type: 'end' }],
    ['ends when the main thread needs no more heartbeats', { isOver: true }, 10_001, { type: 'end' }],
    ['does not wait for less than 5 ms', { provenAt: 10_000 }, 11_562, wait(5)],
  ];
  for (const [title, known, now, step] of cases)
    it(title, () => {
      expect(nextThreadStep({ ...KNOWN, ...known }, now, PACE)).to.deep.equal(step);
    });

  it("regards the main thread as blocked when two of that thread's check-ins are missing", () => {
    expect(isMainSilent(KNOWN, 12_500, PACE)).to.equal(false);
    expect(isMainSilent(KNOWN, 12_501, PACE)).to.equal(true);
  });
});
