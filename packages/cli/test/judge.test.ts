import { expect } from 'chai';
import type { HistoryEvent } from '../src/demo/history.ts';
import { judge } from '../src/demo/judge.ts';

type Ev = HistoryEvent['ev'];
type Extra = Partial<Pick<HistoryEvent, 'token' | 'zxid' | 'n' | 'message'>> & { until?: string };

/** Returns an event of the contender `id`, `ms` milliseconds after the time zero of the test. */
function at(ms: number, id: string, ev: Ev, extra: Extra = {}): HistoryEvent {
  return {
    t: String(1_000_000_000n + BigInt(Math.round(ms * 1e6))),
    id,
    ev,
    name: 'q',
    n: 1,
    ...extra,
  };
}

/**
 * Returns the events of one stay in the queue. The contender `id` requests the lock at `ask`, is granted it
 * at `from` and releases it at `to`, all in milliseconds.
 */
function turn(
  id: string,
  token: string,
  times: { ask: number; from: number; to: number },
  extra: Extra = {},
): HistoryEvent[] {
  const entry = { token, ...extra };
  return [
    at(times.ask, id, 'requesting', { n: extra.n ?? 1 }),
    at(times.ask + 0.1, id, 'enqueued', { ...entry }),
    at(times.from, id, 'acquired', entry),
    at(times.to, id, 'released', entry),
  ];
}

const first = turn('a', '5', { ask: 0, from: 1, to: 10 });
const second = turn('b', '6', { ask: 0.5, from: 11, to: 20 });
const until = at(15, '', 'released').t;
const crash = [
  ...turn('a', '5', { ask: 0, from: 1, to: 3 }).slice(0, 3),
  at(3, 'a', 'crashed', { token: '5', until }),
  at(18, 'a', 'expired', { token: '5' }),
];

const GOOD: Record<string, HistoryEvent[]> = {
  'two holds in sequence': [...first, ...second],
  'a grant in the same nanosecond as the release before it': [
    ...first,
    ...turn('b', '6', { ask: 0, from: 10, to: 12 }),
  ],
  'events in another order than time': [...second, ...first],
  'two rounds of one contender': [...first, ...turn('a', '8', { ask: 10, from: 11, to: 12 }, { n: 2 })],
  'orders that look smaller as text': [
    ...turn('a', '9', { ask: 0, from: 1, to: 2 }),
    ...turn('b', '10', { ask: 1, from: 3, to: 4 }),
  ],
  'a waiter that leaves and is skipped': [
    ...first,
    at(2, 'c', 'requesting'),
    at(3, 'c', 'enqueued', { token: '6' }),
    at(4, 'c', 'cancelled', { token: '6' }),
    ...turn('b', '7', { ask: 4, from: 11, to: 20 }),
  ],
  'a contender that leaves before it has an entry': [at(0, 'c', 'requesting'), at(1, 'c', 'cancelled')],
  'a crashed holder whose proven time has ended': [...crash, ...turn('b', '6', { ask: 2, from: 15, to: 20 })],
  'a lost hold': [
    ...first.slice(0, 3),
    at(5, 'a', 'lost', { token: '5' }),
    ...turn('b', '6', { ask: 2, from: 5, to: 6 }),
  ],
  'fencing tokens that differ from the order': [
    ...turn('a', '1', { ask: 0, from: 1, to: 2 }, { zxid: '4294967297' }),
    ...turn('b', '2', { ask: 0, from: 3, to: 4 }, { zxid: '4294967299' }),
  ],
};

const BAD: Record<string, { history: HistoryEvent[]; rule: string; says: RegExp }> = {
  'two holds that overlap by a microsecond': {
    history: [...first, ...turn('b', '6', { ask: 0, from: 9.999, to: 12 })],
    rule: 'exclusion',
    says: /b \(round 1\) was granted while the hold of a \(round 1\) ended 0\.001 ms later/,
  },
  'a hold within another, with a short one in between': {
    history: [
      ...turn('a', '5', { ask: 0, from: 1, to: 100 }),
      ...turn('b', '6', { ask: 0, from: 2, to: 3 }),
      ...turn('c', '7', { ask: 0, from: 50, to: 60 }),
    ],
    rule: 'exclusion',
    says: /c \(round 1\) was granted while the hold of a/,
  },
  'a grant after a hold that never ended': {
    history: [...first.slice(0, 3), ...second],
    rule: 'exclusion',
    says: /never ended/,
  },
  'a grant before a crashed holder can have expired': {
    history: [...crash, ...turn('b', '6', { ask: 2, from: 14.9, to: 20 })],
    rule: 'exclusion',
    says: /b \(round 1\)/,
  },
  'a grant before the holder noticed its loss': {
    history: [
      ...first.slice(0, 3),
      at(5, 'a', 'lost', { token: '5' }),
      ...turn('b', '6', { ask: 2, from: 4.9, to: 6 }),
    ],
    rule: 'exclusion',
    says: /b \(round 1\)/,
  },
  'a grant out of order': {
    history: [...turn('a', '6', { ask: 0, from: 1, to: 2 }), ...turn('b', '5', { ask: 0, from: 3, to: 4 })],
    rule: 'order',
    says: /b \(round 1\) \(#5\) was granted after a \(round 1\) \(#6\)/,
  },
  'two grants of one entry': {
    history: [...turn('a', '5', { ask: 0, from: 1, to: 2 }), ...turn('b', '5', { ask: 0, from: 3, to: 4 })],
    rule: 'order',
    says: /#5/,
  },
  'a token that does not grow': {
    history: [
      ...turn('a', '1', { ask: 0, from: 1, to: 2 }, { zxid: '9' }),
      ...turn('b', '2', { ask: 0, from: 3, to: 4 }, { zxid: '9' }),
    ],
    rule: 'tokens',
    says: /got token 9/,
  },
  'a waiter that is never granted': {
    history: [...first, at(2, 'c', 'requesting'), at(3, 'c', 'enqueued', { token: '9' })],
    rule: 'progress',
    says: /c \(round 1\) was never served/,
  },
  'a request without an entry': {
    history: [...first, at(2, 'c', 'requesting')],
    rule: 'progress',
    says: /never served/,
  },
  'a hold without an end': { history: first.slice(0, 3), rule: 'progress', says: /never released/ },
  'an error': {
    history: [at(0, 'a', 'requesting'), at(1, 'a', 'error', { message: 'no quorum' })],
    rule: 'progress',
    says: /was not served: no quorum/,
  },
  'a crashed holder that stays in the queue': {
    history: crash.slice(0, 4),
    rule: 'progress',
    says: /still in the queue/,
  },
  'an entry that expires although its owner is alive': {
    history: [...first, at(5, 'a', 'expired', { token: '5' })],
    rule: 'progress',
    says: /although it was alive/,
  },
  'a grant to a contender that had left': {
    history: [...first, at(0.5, 'a', 'cancelled', { token: '5' })],
    rule: 'progress',
    says: /after it had left/,
  },
  'a release without a grant': {
    history: first.filter(({ ev }) => ev !== 'acquired'),
    rule: 'progress',
    says: /released without having been granted/,
  },
  'a grant without an entry': {
    history: first.filter(({ ev }) => ev !== 'enqueued'),
    rule: 'progress',
    says: /without an entry/,
  },
  'a grant without a request': { history: first.slice(1), rule: 'progress', says: /never requested/ },
  'a repeated grant': {
    history: [...first, at(4, 'a', 'acquired', { token: '5' })],
    rule: 'progress',
    says: /repeated events: acquired/,
  },
  'a release before its grant': {
    history: turn('a', '5', { ask: 0, from: 5, to: 4 }),
    rule: 'progress',
    says: /stamps go back/,
  },
  'a grant with another entry': {
    history: first.map((event) => (event.ev === 'enqueued' ? { ...event, token: '4' } : event)),
    rule: 'progress',
    says: /another entry/,
  },
  'no token at all': {
    history: first.map((event) => at((Number(event.t) - 1e9) / 1e6, event.id, event.ev)),
    rule: 'progress',
    says: /without a token/,
  },
  'an empty history': { history: [], rule: 'progress', says: /the history has no events/ },
};

describe('the verdict on a history', () => {
  for (const [what, history] of Object.entries(GOOD)) {
    it(`is OK for this history: ${what}`, () => {
      expect(judge(history)).to.deep.include({ ok: true, violations: [] });
    });
  }

  for (const [what, { history, rule, says }] of Object.entries(BAD)) {
    it(`reports a violation: ${what}`, () => {
      const { ok, violations } = judge(history);
      expect(ok).to.equal(false);
      const found = violations.filter((violation) => violation.rule === rule).map(({ message }) => message);
      expect(found.join('\n')).to.match(says);
    });
  }

  it('counts grants, departures, crashes and losses', () => {
    const verdict = judge([
      ...crash,
      ...turn('b', '6', { ask: 2, from: 15, to: 20 }),
      ...turn('d', '8', { ask: 3, from: 20.5, to: 21 }),
    ]);
    expect(verdict).to.include({
      grants: 3,
      served: 2,
      cancelled: 0,
      expired: 1,
      lost: 0,
      handOffs: 1,
      handOffMs: 0.5,
    });
  });

  it('measures no hand-off when the next holder joined after the release', () => {
    expect(judge([...first, ...turn('b', '6', { ask: 12, from: 13, to: 14 })]).handOffs).to.equal(0);
  });
});
