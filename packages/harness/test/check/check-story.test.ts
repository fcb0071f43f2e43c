import { expect } from 'chai';
import { expectFine, messagesIn } from '../../src/check/judged.ts';
import { TTL_MS, HistoryBuilder, stamp, type Steps } from '../../src/check/history-builder.ts';

const one = (steps: Omit<Steps, 'token'>): HistoryBuilder =>
  new HistoryBuilder().worker('a', 0).attempt('a', { token: 1, ...steps });
const storyOf = (builder: HistoryBuilder): string => messagesIn(builder.close(300, 'a')).join('\n');

describe('a recorded history', () => {
  it('is flagged if it has no end', () => {
    const builder = new HistoryBuilder().worker('a', 0).attempt('a', { token: 1, queued: 10, cancelled: 20 });
    expect(messagesIn(builder)).to.deep.equal(['story: the history has no end']);
  });
  it('is flagged if an attempt acquires without having queued', () => {
    expect(storyOf(one({ enqueue: 5, acquired: 20, released: 30 }))).to.contain('without having been queued');
    expect(storyOf(one({ queued: 10, cancelled: 20 }).without('enqueue'))).to.contain('asked for');
  });
  it('is flagged if an attempt acquires after it left or failed', () => {
    expect(storyOf(one({ queued: 10, cancelled: 20, acquired: 20, released: 30 }))).to.contain(
      'after it was cancelled',
    );
    expect(storyOf(one({ queued: 10, failed: 20, acquired: 21, released: 30 }))).to.contain(
      'after it had failed',
    );
  });
  it('is flagged if an attempt ends twice', () => {
    expect(storyOf(one({ queued: 10, acquired: 20, released: 30, revoked: 40 }))).to.contain('two ends');
    expect(storyOf(one({ queued: 10, cancelled: 30, failed: 40 }))).to.contain('two ends');
  });
  it('is flagged if an event of an attempt occurs twice', () => {
    const builder = one({ queued: 10, acquired: 20, released: 30 });
    builder.tell('a', 25, { ev: 'acquired', queue: 'q', n: 1, token: '1', order: '1', remainingMs: 1 });
    expect(storyOf(builder)).to.contain('says "acquired" twice');
  });
  it('is not flagged if an attempt joins again because its session ended while it joined', () => {
    const again = (session: string): HistoryBuilder => {
      const place = { queue: 'q', n: 1, token: '5', order: '5' };
      const builder = one({ enqueue: 5, queued: 10 }).tell('a', 15, {
        ev: 'queued',
        key: 'k',
        session,
        ...place,
      });
      builder.tell('a', 16, { ev: 'beat', session, sentAt: stamp(14), provenMs: TTL_MS });
      builder.tell('a', 20, { ev: 'acquired', remainingMs: 1_000, ...place });
      builder.tell('a', 30, { ev: 'released', queue: 'q', n: 1 });
      return builder.tell('a', 31, { ev: 'left', queue: 'q', n: 1 });
    };
    expectFine(again('next-session').close(300, 'a'));
    expect(storyOf(again('a-session')))
      .to.contain('says "queued" twice')
      .and.contain('another order or token');
  });
  it('is flagged if an attempt loses, releases or leaves a hold that it did not have', () => {
    expect(storyOf(one({ queued: 10, released: 30 }))).to.contain('released what it never acquired');
    expect(storyOf(one({ queued: 10, revoked: 30 }))).to.contain('lost what it never acquired');
    expect(storyOf(one({ queued: 10, acquired: 20, revoked: 25, left: 30 }))).to.contain(
      'left without having released',
    );
    expectFine(one({ queued: 10, cancelled: 20, left: 30 }).close(300, 'a'));
  });
  it('is flagged if a worker records that it holds before the grant or after the release', () => {
    const held = (): HistoryBuilder => one({ queued: 10, acquired: 20, released: 30 });
    expect(storyOf(held().read('a', 19, true))).to.contain('believed before it acquired');
    expect(storyOf(held().read('a', 31, true))).to.contain('believed after it had released');
    expect(storyOf(held().effect('a', 31, { token: 1, outcome: 'refused' }))).to.contain('believed after');
    expectFine(held().read('a', 20, true).read('a', 30, true).read('a', 31, false).close(300, 'a'));
  });
  it('is flagged if two attempts have the same token, or one attempt has two tokens', () => {
    const held = (): HistoryBuilder => one({ queued: 10, acquired: 20, released: 30 });
    expect(storyOf(held().effect('a', 25, { token: 2 }))).to.contain('writes with token 2, its own is 1');
    expect(storyOf(held().attempt('a', { n: 2, token: 1, queued: 40, cancelled: 50 }))).to.contain(
      'same token 1',
    );
    const other = one({ queued: 10 });
    other.tell('a', 20, { ev: 'acquired', queue: 'q', n: 1, token: '2', order: '1', remainingMs: 1 });
    expect(storyOf(other.tell('a', 30, { ev: 'revoked', queue: 'q', n: 1, reason: '' }))).to.contain(
      'another order or token',
    );
  });
  it('is flagged if the session of a hold has no confirmed heartbeat', () => {
    expect(storyOf(one({ queued: 10, acquired: 20, released: 30, session: 'other' }))).to.contain(
      'no heartbeat proved',
    );
  });
  it('is not flagged if the event "queued" of an attempt is stamped just after its event "acquired"', () => {
    expectFine(one({ enqueue: 10, queued: 20.001, acquired: 20, released: 30 }).close(300, 'a'));
  });
  it('is not flagged if a worker is killed and another process starts with its name', () => {
    const builder = one({ queued: 10, acquired: 20 }).harness(30, { ev: 'killed', worker: 'a' });
    builder.tell('a', 40, { ev: 'started', pid: 2, ttlMs: 5_000, safetyMarginMs: 200 });
    builder.tell('a', 42, { ev: 'beat', session: 's', sentAt: builder.events[0]!.t, provenMs: 5_000 });
    builder.attempt('a', { token: 2, session: 's', queued: 50, acquired: 60, released: 70 });
    expectFine(builder.close(300, 'a'));
  });
});
