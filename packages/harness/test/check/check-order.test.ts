import { expect } from 'chai';
import { expectFine, rulesIn } from '../../src/check/judged.ts';
import { HistoryBuilder } from '../../src/check/history-builder.ts';

const three = (): HistoryBuilder => new HistoryBuilder().worker('a', 0).worker('b', 0).worker('c', 0);
const all = ['a', 'b', 'c'];

describe('rule F1 (order of grants)', () => {
  it('flags a grant against the order of the queue', () => {
    const builder = three()
      .attempt('a', { token: 2, queued: 10, acquired: 20, released: 30 })
      .attempt('b', { token: 1, queued: 11, acquired: 40, released: 50 });
    expect(rulesIn(builder.close(300, ...all))).to.deep.equal(['F1']);
  });

  it('flags a token that is granted twice', () => {
    const builder = three()
      .attempt('a', { token: 1, queued: 10, acquired: 20, released: 30 })
      .attempt('b', { token: 1, order: 2, queued: 35, acquired: 40, released: 50 });
    expect(rulesIn(builder.close(300, ...all))).to.include.members(['F1', 'story']);
  });

  const passed = (steps: { cancelled?: number; failed?: number; queued?: number }): HistoryBuilder =>
    three()
      .attempt('a', { token: 1, queued: 10, acquired: 20, released: 60 })
      .attempt('b', { token: 2, queued: 30, ...steps })
      .attempt('c', { token: 3, queued: 40, acquired: 61, released: 70 });

  it('flags a grant past a waiter whose session is proven, although the waiter leaves later', () => {
    expect(rulesIn(passed({ cancelled: 62 }).close(300, ...all))).to.deep.equal(['F1']);
  });
  it('does not flag a grant past a waiter that left earlier, or failed at an unknown time', () => {
    expectFine(passed({ cancelled: 61 }).close(300, ...all));
    expectFine(passed({ failed: 62 }).close(300, ...all));
  });
  it('does not flag a grant past a waiter that was killed before, or whose session had expired', () => {
    expectFine(passed({}).harness(50, { ev: 'killed', worker: 'b' }).close(300, 'a', 'c'));
    const builder = new HistoryBuilder()
      .worker('b', 0)
      .worker('c', 0, 5_000)
      .attempt('b', { token: 2, queued: 30, cancelled: 7_000 })
      .attempt('c', { token: 3, queued: 40, acquired: 6_000, released: 6_001 });
    expectFine(builder.close(7_100, 'b', 'c'));
  });
  it('flags a grant past a waiter that is killed only after that grant', () => {
    const builder = passed({}).harness(100, { ev: 'killed', worker: 'b' });
    expect(rulesIn(builder.close(300, 'a', 'c'))).to.deep.equal(['F1']);
  });

  it('flags entries of one queue whose order numbers contradict their tokens', () => {
    const builder = three()
      .attempt('a', { token: 1, order: 5, queued: 10, acquired: 20, released: 30 })
      .attempt('b', { token: 2, order: 4, queued: 11, acquired: 40, released: 50 });
    expect(rulesIn(builder.close(300, ...all))).to.deep.equal(['F1']);
  });
  it('does not flag order numbers that start again after the queue was empty', () => {
    const builder = three()
      .attempt('a', { token: 1, order: 5, queued: 10, acquired: 20, released: 30 })
      .attempt('b', { token: 2, order: 0, queued: 31, acquired: 40, released: 50 });
    expectFine(builder.close(300, ...all));
  });
  it('checks queues separately', () => {
    const builder = three()
      .attempt('a', { token: 2, queued: 10, acquired: 20, released: 30 })
      .attempt('b', { token: 1, queue: 'r', queued: 11, acquired: 40, released: 50 });
    expectFine(builder.close(300, ...all));
  });
});
