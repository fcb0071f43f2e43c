import { BridgeError, type Observed } from '@queuelock/bridge/client';
import type { Snapshot } from '@queuelock/bridge/wire';
import { expect } from 'chai';
import { freshnessOf } from '../src/page/model/freshness.ts';
import { handOffText, holdMeter, notesOf } from '../src/page/model/hold.ts';
import { shortcutOf, type Pressed } from '../src/page/model/keys.ts';
import { targetOf, withFocused } from '../src/page/model/moves.ts';
import { namesFrom, withName } from '../src/page/model/names.ts';
import { arrowsOf, ringOf } from '../src/page/model/ring.ts';
import { coverageText, sessionKey, sessionsWith } from '../src/page/model/sessions.ts';

describe('the connection state that the dashboard shows', () => {
  const now = { page: 20_000, bridge: 50_000 };
  const live = { connection: 'live', since: 0 } as const;
  const error = {
    code: 'UNAVAILABLE',
    message: '[UNAVAILABLE] no member answers.',
    retryable: true,
  } as const;
  const cases: readonly (readonly [string, Observed<Snapshot>, string, string | undefined])[] = [
    ['live', { ...live, snapshot: { at: 0, status: 'live' } }, 'live', undefined],
    [
      'before the first snapshot',
      { connection: 'connecting', since: 0, snapshot: undefined },
      'connecting',
      'Connecting.',
    ],
    [
      'a store that has not responded',
      { ...live, snapshot: { at: 0, status: 'connecting', error } },
      'connecting',
      'The store has not responded yet: no member answers.',
    ],
    [
      'a store that cannot be reached',
      { ...live, snapshot: { at: 38_000, status: 'stale', error } },
      'stale',
      'The store does not respond. This is the state of 12s ago: no member answers.',
    ],
    [
      'a bridge that refuses',
      {
        ...live,
        snapshot: undefined,
        refusal: new BridgeError({ ...error, message: '[ACCESS_DENIED] not allowed' }),
      },
      'stale',
      'The server of this page refuses to show this: not allowed.',
    ],
    [
      'a bridge that cannot be reached, whatever the snapshot',
      { connection: 'stale', since: 8_000, snapshot: { at: 0, status: 'live' } },
      'stale',
      'The server of this page does not respond. Last data 12s ago; reconnecting.',
    ],
  ];
  for (const [title, seen, tone, text] of cases)
    it(`in the case "${title}" is "${tone}"`, () => {
      expect(freshnessOf(seen, now)).to.deep.equal({ tone, text });
    });
});

describe('a hold on the dashboard', () => {
  it('shows a proven time that shrinks from the moment of the snapshot to zero', () => {
    const entry = { heldAt: 0, remainingMs: 8_000 };
    expect(holdMeter(entry, { at: 1_000 }, { now: 3_000, fullMs: 12_000 })).to.include({
      kind: 'budget',
      ms: 6_000,
      part: 0.5,
    });
    expect(holdMeter(entry, { at: 1_000 }, { now: 99_000, fullMs: 12_000 })).to.include({ ms: 0, part: 0 });
  });

  it("has a bar that shows its duration as a part of its client's typical hold time", () => {
    const at = { at: 0, typicalHoldMs: 4_000 };
    expect(holdMeter({ heldAt: 0, typicalHoldMs: 2_000 }, at, { now: 1_000, fullMs: 0 }).part).to.equal(0.5);
    expect(holdMeter({ heldAt: 0 }, at, { now: 1_000, fullMs: 0 }).part).to.equal(0.25);
    expect(holdMeter({ heldAt: 0 }, at, { now: 9_000, fullMs: 0 })).to.include({
      kind: 'typical',
      part: 1,
      ms: 9_000,
    });
  });

  it('has no bar when no typical hold time is known', () => {
    expect(holdMeter({ heldAt: 0 }, { at: 0 }, { now: 5_000, fullMs: 0 }).kind).to.equal('unknown');
  });

  it('is shown with properties of its entry, such as the shared mode', () => {
    const entry = {
      shared: true,
      permits: 2,
      limit: 5,
      metadata: { a: '1' },
      request: { reason: 'please', withinMs: 1 },
    };
    expect(notesOf(entry)).to.equal('reads, 2 of 5, asks: please, a=1');
    expect(notesOf({ shared: false, permits: 1, limit: 1, metadata: {} })).to.equal('');
  });

  it('is announced to screen readers with its holder after a hand-off', () => {
    expect(handOffText(['ann'], ['bob'])).to.equal('bob holds now');
    expect(handOffText(['ann'], ['ann'])).to.equal(undefined);
    expect(handOffText(['ann'], [])).to.equal('No client holds the lock now');
    expect(handOffText([], ['a', 'b', 'c', 'd'])).to.equal('a, b, c and others holds now');
  });
});

describe('keyboard shortcuts of the dashboard', () => {
  const press = (pressed: Partial<Pressed>): ReturnType<typeof shortcutOf> =>
    shortcutOf({ key: '', modified: false, busy: false, before: undefined, ...pressed });

  it('open a view when the user presses `g` and then the letter of the view', () => {
    expect(press({ key: 'd', before: 'g' })).to.deep.equal({ kind: 'go', hash: '#/deadlocks' });
    expect(press({ key: 'd' })).to.equal(undefined);
  });

  it('do nothing while the user types text, or holds Ctrl, Alt or Meta', () => {
    expect(press({ key: '?' })).to.deep.equal({ kind: 'help' });
    expect([press({ key: '?', busy: true }), press({ key: 't', modified: true })]).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it('move the focus from row to row, and not beyond the first and the last row', () => {
    const moves = (key: string, at: number): number | undefined => targetOf(key, at, { last: 9, page: 4 });
    expect([
      moves('ArrowDown', 9),
      moves('ArrowUp', 3),
      moves('PageDown', 2),
      moves('PageUp', 2),
    ]).to.deep.equal([9, 2, 6, 0]);
    expect([moves('Home', 5), moves('End', 5), moves('x', 5)]).to.deep.equal([0, 9, undefined]);
    expect(targetOf('End', -1, { last: -1, page: 4 })).to.equal(undefined);
  });

  it('can find the focused row in the page, even if the row is scrolled out of view', () => {
    const range = { startIndex: 10, endIndex: 12, overscan: 1, count: 100 };
    expect(withFocused(range, -1)).to.deep.equal([9, 10, 11, 12, 13]);
    expect(withFocused(range, 11)).to.deep.equal([9, 10, 11, 12, 13]);
    expect(withFocused(range, 2)).to.deep.equal([2, 9, 10, 11, 12, 13]);
    expect(withFocused(range, 70)).to.deep.equal([9, 10, 11, 12, 13, 70]);
    expect(withFocused({ ...range, count: 0, startIndex: 0, endIndex: 0 }, 5)).to.deep.equal([]);
  });
});

describe('the drawing of a deadlock as a ring', () => {
  it('has its first node at the top and continues clockwise', () => {
    const [top, right] = ringOf(4, 100);
    expect([
      Math.round(top!.x),
      Math.round(top!.y),
      Math.round(right!.x),
      Math.abs(Math.round(right!.y)),
    ]).to.deep.equal([0, -100, 100, 0]);
  });

  it('has arrows that touch no label', () => {
    const room = { across: 50, down: 15 };
    for (const places of [2, 3, 5]) {
      for (const { from, to } of arrowsOf(places, 100, room)) {
        for (const { x, y } of ringOf(places, 100)) {
          const inside = [from, to].some(
            (end) => Math.abs(end.x - x) < room.across && Math.abs(end.y - y) < room.down,
          );
          expect(inside).to.equal(false);
        }
      }
    }
  });
});

describe('lists of names, sessions and queues on the dashboard', () => {
  it('omit stored values that are not names, and are empty when the stored text is malformed', () => {
    expect(namesFrom('["a",7,"","b"]')).to.deep.equal(['a', 'b']);
    expect([namesFrom('{"a":1}'), namesFrom('no')]).to.deep.equal([[], []]);
  });

  it('include each stored name once, the newest first, up to 24 names', () => {
    expect(withName(['a', 'b'], 'b')).to.deep.equal(['b', 'a']);
    const many = Array.from({ length: 30 }, (_one, at) => String(at));
    expect(withName(many, 'new')).to.have.lengthOf(24);
  });

  it('include a session if its owner, host, process or queues match the searched text', () => {
    const entries = [{ key: 'k', order: '1', owner: 'Ann', name: 'invoices', position: 0 }];
    const sessions = [{ owner: 'Ann', host: 'h1', pid: 77, entries }];
    for (const text of ['ann', 'H1', '77', 'invoi', ''])
      expect(sessionsWith(sessions, text)).to.deep.equal(sessions);
    expect(sessionsWith(sessions, 'bob')).to.deep.equal([]);
  });

  it('list two processes with the same host name and process id apart', () => {
    const session = { owner: 'app:1', host: 'app', pid: 1 };
    expect(sessionKey({ ...session, instance: 'a' })).to.not.equal(sessionKey({ ...session, instance: 'b' }));
  });

  it('state how many queues they omit', () => {
    expect(coverageText({ included: 9, omitted: 0 })).to.equal('');
    expect(coverageText({ included: 50, omitted: 1_200 })).to.contain('1,200 more are omitted');
  });
});
