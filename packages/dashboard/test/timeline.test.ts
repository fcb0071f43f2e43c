import type { Span } from '@queuelock/bridge/wire';
import { expect } from 'chai';
import { drawingOf, handOffsPerS, pulseOf } from '../src/page/model/timeline.ts';

function span(owner: string, times: Partial<Span> & Pick<Span, 'joinedAt'>): Span {
  return { key: owner, order: '1', owner, shared: false, ...times };
}

const FRAME = { now: 10_000, windowMs: 10_000, lanes: 4 };

describe('the drawing of a timeline', () => {
  const drawn = (spans: readonly Span[], lanes = 4): ReturnType<typeof drawingOf> =>
    drawingOf({ spans, gaps: [] }, { ...FRAME, lanes });
  const owners = (spans: readonly Span[], lanes: number): string =>
    drawn(spans, lanes)
      .lanes.map(({ span: { owner } }) => owner)
      .join(' ');

  it('shows an entry as a wait that is followed by a hold', () => {
    const [lane] = drawn([span('a', { joinedAt: 2_000, heldAt: 5_000, leftAt: 9_000 })]).lanes;
    expect([lane?.wait, lane?.hold, lane?.isPresent]).to.deep.equal([
      { from: 0.2, to: 0.5 },
      { from: 0.5, to: 0.9 },
      false,
    ]);
  });

  it('extends the wait or hold of a present entry to the present time', () => {
    const [holder, waiter] = drawn([
      span('a', { joinedAt: 2_000, heldAt: 2_000 }),
      span('b', { joinedAt: 4_000 }),
    ]).lanes;
    expect([holder?.wait, holder?.hold]).to.deep.equal([undefined, { from: 0.2, to: 1 }]);
    expect([waiter?.wait, waiter?.hold]).to.deep.equal([{ from: 0.4, to: 1 }, undefined]);
  });

  it('cuts entries that joined before the shown period, and omits those that left before it', () => {
    const { lanes } = drawn([
      span('gone', { joinedAt: -9_000, heldAt: -8_000, leftAt: 0 }),
      span('cut', { joinedAt: -9_000, heldAt: 1_000, leftAt: 2_000 }),
    ]);
    expect(lanes.map(({ span: { owner }, wait }) => [owner, wait])).to.deep.equal([
      ['cut', { from: 0, to: 0.1 }],
    ]);
  });

  it('draws nothing of an entry whose times are in the future because clocks differ', () => {
    const [lane] = drawn([span('a', { joinedAt: 12_000, heldAt: 13_000 })]).lanes;
    expect([lane?.wait, lane?.hold]).to.deep.equal([undefined, undefined]);
  });

  it('shows the latest departures and the front of the queue when not all entries have room', () => {
    const gone = ['a', 'b', 'c', 'd'].map((owner, at) =>
      span(owner, { joinedAt: 0, heldAt: at * 1_000, leftAt: (at + 1) * 1_000 }),
    );
    const present = ['e', 'f', 'g', 'h'].map((owner) => span(owner, { joinedAt: 5_000 }));
    expect(owners([...gone, ...present], 4)).to.equal('c d e f');
    expect(owners([...gone, ...present.slice(0, 1)], 4)).to.equal('b c d e');
    expect(owners([...gone.slice(0, 1), ...present], 4)).to.equal('a e f g');
    expect(drawn([...gone, ...present], 4).omitted).to.equal(4);
  });

  it('connects each hold with the next one by a hand-off, and ignores a waiter that gave up', () => {
    const { handOffs } = drawn([
      span('a', { joinedAt: 0, heldAt: 0, leftAt: 2_000 }),
      span('b', { joinedAt: 0, heldAt: 2_000, leftAt: 6_000 }),
      span('gave up', { joinedAt: 0, leftAt: 6_000 }),
      span('c', { joinedAt: 0, heldAt: 6_000 }),
    ]);
    expect(handOffs).to.deep.equal([
      { at: 0.2, fromLane: 0, toLane: 1 },
      { at: 0.6, fromLane: 1, toLane: 3 },
    ]);
  });

  it('has round times on its axis', () => {
    expect(drawn([]).ticks.map(({ time }) => time)).to.deep.equal([0, 2_000, 4_000, 6_000, 8_000, 10_000]);
    const minute = drawingOf({ spans: [], gaps: [] }, { now: 100_500, windowMs: 60_000, lanes: 4 });
    expect(minute.ticks.map(({ time }) => time)).to.deep.equal([45_000, 60_000, 75_000, 90_000]);
  });

  it('includes periods in which the store could not be read, also one that has not ended', () => {
    const { gaps } = drawingOf(
      { spans: [], gaps: [{ from: -9, to: -1 }, { from: 1_000, to: 2_000 }, { from: 9_000 }] },
      FRAME,
    );
    expect(gaps).to.deep.equal([
      { from: 0.1, to: 0.2 },
      { from: 0.9, to: 1 },
    ]);
  });
});

describe('hand-offs over time on the dashboard', () => {
  const spans = [
    span('old', { joinedAt: 0, heldAt: 0, leftAt: -1 }),
    span('a', { joinedAt: 0, heldAt: 0, leftAt: 500 }),
    span('b', { joinedAt: 0, heldAt: 0, leftAt: 600 }),
    span('c', { joinedAt: 0, heldAt: 0, leftAt: 9_999 }),
    span('gave up', { joinedAt: 0, leftAt: 600 }),
    span('here', { joinedAt: 0, heldAt: 0 }),
  ];

  it('are counted in equal parts of the shown period, by the time when the hold ended', () => {
    expect(pulseOf(spans, FRAME, 5)).to.deep.equal([2, 0, 0, 0, 1]);
  });

  it('have a rate per second, computed over the watched time but at most the last minute', () => {
    expect(handOffsPerS({ spans: spans.slice(1), beganAt: 0 }, 10_000)).to.equal(0.3);
    expect(handOffsPerS({ spans, beganAt: -999_999 }, 60_000)).to.equal(0.05);
  });
});
