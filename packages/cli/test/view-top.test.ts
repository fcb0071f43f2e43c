import { expect } from 'chai';
import type { ListedQueue } from '@queuelock/core';
import { EMPTY_METER, metered, rowsOf, type Meter, type QueueRow } from '../src/view/meter.ts';
import { widthOf } from '../src/view/text.ts';
import { topLines, type TopView } from '../src/view/top-frame.ts';
import { FIRST_STATE, chosen, onKey, type Key, type TopState } from '../src/view/top-state.ts';

function listed(name: string, depth: number, { front = 1, left = 0 } = {}): ListedQueue {
  return { name, depth, front: BigInt(front), left };
}

function after(...reads: readonly (readonly [at: number, ...queues: ListedQueue[]])[]): Meter {
  return reads.reduce<Meter>((meter, [at, ...queues]) => metered(meter, queues, at), EMPTY_METER);
}

describe('the rates of queuelock top', () => {
  it('are 0 for hand-offs and unknown for waits after the first sample', () => {
    const [row] = rowsOf(after([1_000, listed('a', 3)]), 1_500);
    expect(row).to.deep.equal({
      name: 'a',
      depth: 3,
      handOffsPerS: 0,
      heldMs: 500,
      heldLonger: true,
      turnMs: undefined,
      waitMs: undefined,
    });
  });

  it('are computed from departures, as is the expected wait', () => {
    const meter = after(
      [0, listed('a', 3)],
      [1_000, listed('a', 2, { front: 5, left: 2 })],
      [2_000, listed('a', 5, { front: 5, left: 2 })],
    );
    const [row] = rowsOf(meter, 2_000);
    expect(row).to.include({
      handOffsPerS: 1,
      heldMs: 1_000,
      heldLonger: false,
      turnMs: 1_000,
      waitMs: 5_000,
    });
  });

  it('ignore samples older than ten seconds', () => {
    const reads = Array.from(
      { length: 31 },
      (_, s) => [s * 1_000, listed('a', 1, { left: s < 10 ? s : 10 })] as const,
    );
    expect(rowsOf(after(...reads), 30_000)[0]!.handOffsPerS).to.equal(0);
    expect(rowsOf(after(...reads.slice(0, 10)), 9_000)[0]!.handOffsPerS).to.equal(1);
  });

  it("start again at 0 when a queue's count of departures decreases, and disappear with the queue", () => {
    const meter = after(
      [0, listed('a', 1, { left: 9 }), listed('b', 1)],
      [1_000, listed('a', 1, { left: 0 })],
    );
    expect(rowsOf(meter, 1_000)).to.have.length(1);
    expect(rowsOf(meter, 1_000)[0]).to.include({ handOffsPerS: 0, heldMs: 0 });
  });
});

describe('the keys of queuelock top', () => {
  const names = Array.from({ length: 50 }, (_, number) => `q${String(number)}`);
  const screen = { names, page: 10, entries: 35 };
  const press = (state: TopState, ...keys: readonly (string | Key)[]): TopState | 'quit' =>
    keys.reduce<TopState | 'quit'>(
      (now, key) =>
        now === 'quit' ? now : onKey(now, typeof key === 'string' ? { text: key, name: key } : key, screen),
      state,
    );

  it('quit with q and Ctrl-C, but not with q while a filter is typed', () => {
    expect(press(FIRST_STATE, 'q')).to.equal('quit');
    expect(press(FIRST_STATE, '/', { name: 'c', ctrl: true })).to.equal('quit');
    expect(press(FIRST_STATE, '/', 'q')).to.include({ filter: 'q', typing: true });
  });

  it('sort by the column of the pressed letter, and in reverse when pressed again', () => {
    expect(press(FIRST_STATE, 'h')).to.include({ sort: 'hand-offs', reverse: false });
    expect(press(FIRST_STATE, 'h', 'h')).to.include({ sort: 'hand-offs', reverse: true });
    expect(press(FIRST_STATE, 'h', 'h', 'n')).to.include({ sort: 'name', reverse: false });
  });

  it('type, correct, confirm and clear a filter', () => {
    const typed = press(FIRST_STATE, '/', 'a', 'é', 'x', { name: 'backspace', text: '\b' }) as TopState;
    expect(typed).to.include({ filter: 'aé', typing: true });
    expect(press(typed, { name: 'return', text: '\r' })).to.include({ filter: 'aé', typing: false });
    expect(press(typed, { name: 'escape' })).to.include({ filter: '', typing: false });
    expect(press(typed, { name: 'return' }, { name: 'escape' })).to.include({ filter: '' });
  });

  it('move the cursor by rows and pages, and not beyond the first or the last row', () => {
    const move = (...keys: readonly string[]): string | undefined =>
      (press(FIRST_STATE, ...keys.map((name) => ({ name }))) as TopState).selected;
    expect(move('up')).to.equal(undefined);
    expect(move('down', 'down')).to.equal('q2');
    expect(move('pagedown', 'up')).to.equal('q9');
    expect(move('end')).to.equal('q49');
    expect(move('end', 'down', 'home')).to.equal(undefined);
  });

  it('open the queue under the cursor with Enter, scroll its entries, and close it with Escape', () => {
    const opened = press(FIRST_STATE, { name: 'down' }, { name: 'return' }) as TopState;
    expect(opened).to.include({ opened: 'q1', scrolled: 0 });
    expect(press(opened, { name: 'end' })).to.include({ scrolled: 25 });
    expect(press(opened, { name: 'pagedown' }, { name: 'up' })).to.include({ scrolled: 9 });
    expect(press(opened, { name: 'escape' })).to.include({ opened: undefined, selected: 'q1' });
  });
});

describe('the screen of queuelock top', () => {
  const rows: readonly QueueRow[] = Array.from({ length: 200 }, (_, number) => ({
    name: number === 7 ? '錠\u001B[2J🔒'.repeat(20) : `queue-${String(number).padStart(3, '0')}`,
    depth: number,
    handOffsPerS: number / 7,
    heldMs: number * 1_000,
    heldLonger: false,
    turnMs: undefined,
    waitMs: undefined,
  }));
  const view = (state: Partial<TopState> = {}, more: Partial<TopView> = {}): TopView => {
    const whole = { ...FIRST_STATE, ...state };
    const base = {
      storeLabel: 'etcd://a:1',
      status: 'live',
      error: undefined,
      staleMs: 0,
      opened: undefined,
      now: 0,
    } as const;
    return { ...base, state: whole, rows, chosen: chosen(rows, whole), ...more };
  };
  const textsOf = (of: TopView, columns: number, height: number): string[] =>
    topLines(of, { columns, rows: height, colours: false, blocks: false }).map((line) =>
      line.map((span) => (typeof span === 'string' ? span : span[0])).join(''),
    );

  it('fills the terminal exactly at every size', () => {
    const states: Partial<TopState>[] = [
      {},
      { sort: 'name' },
      { help: true },
      { opened: 'x' },
      { typing: true, filter: 'zz' },
    ];
    for (const state of states)
      for (const [columns, height] of [
        [80, 24],
        [200, 50],
        [20, 8],
        [1, 1],
      ] as const) {
        const lines = textsOf(view(state), columns, height);
        expect(lines).to.have.length(height);
        for (const line of lines) {
          expect(widthOf(line), JSON.stringify(line)).to.be.at.most(columns);
          expect(line).to.not.contain('\u001B');
        }
      }
  });

  it('shows the longest queue first, and scrolls to the queue under the cursor', () => {
    const first = textsOf(view(), 80, 24);
    expect(first[4]).to.match(/^> queue-199 +199 /);
    const far = textsOf(view({ selected: 'queue-050' }), 80, 24);
    expect(far.find((line) => line.startsWith('>'))).to.contain('queue-050');
  });

  it('shows for how long the server has not responded, and why', () => {
    const lines = textsOf(view({}, { status: 'stale', error: 'no route', staleMs: 65_000 }), 80, 24);
    expect(lines[1]).to.match(/does not respond, this is the state of 1m05s ago: no route/);
  });
});
