import { expect } from 'chai';
import { check } from '../../src/check.ts';
import { LIMITS, expectFine, rulesIn } from '../../src/check/judged.ts';
import { PROVEN_MS, HistoryBuilder } from '../../src/check/history-builder.ts';
import type { ChaosEvent } from '../../src/check/event.ts';
import { runOf } from '../../src/check/history.ts';

const NS = 1e-6;

const two = (): HistoryBuilder =>
  new HistoryBuilder().worker('a', 0, 1_000, 2_000).worker('b', 0, 1_000, 2_000);
/** Builds a history in which worker `a` holds from 20 ms to `ended`, and `b` from `acquired` on. */
const handedOver = (ended: number, acquired: number): HistoryBuilder =>
  two()
    .attempt('a', { token: 1, queued: 10, acquired: 20, released: ended })
    .attempt('b', { token: 2, queued: 30, acquired, released: acquired + 50 });
/**
 * The time in milliseconds until which the last heartbeat of worker `a`, sent at 2,000 ms, proves ownership.
 */
const DEADLINE = 2_000 + PROVEN_MS;
const frozenHolder = (acquired: number, revoked: number): HistoryBuilder =>
  two()
    .beat('b', 6_000)
    .attempt('a', { token: 1, queued: 10, acquired: 20, revoked })
    .attempt('b', { token: 2, queued: 30, acquired, released: acquired + 50 })
    .harness(2_100, { ev: 'frozen', worker: 'a' })
    .harness(revoked - 1, { ev: 'thawed', worker: 'a' });

describe('the check of a history', () => {
  it('finds nothing in a clean hand-off', () => {
    expectFine(handedOver(100, 101).close(300, 'a', 'b'));
  });

  it('finds the same violations in whatever order the events of different processes are merged', () => {
    const { events } = handedOver(100, 99).close(300, 'a', 'b');
    const byWorker = [...events].sort((x, y) => (x.who < y.who ? -1 : x.who > y.who ? 1 : 0));
    const rules = (history: ChaosEvent[]): string[] =>
      check(runOf(history), LIMITS).findings.map(({ rule }) => rule);
    expect(rules(byWorker)).to.deep.equal(['S2']).and.deep.equal(rules(events));
  });

  describe('rule S1 (fenced writes)', () => {
    const written = (sentAt: number): HistoryBuilder =>
      handedOver(100, 101)
        .effect('b', 110, { token: 2, answered: 120 })
        .effect('a', sentAt, { token: 1, believed: false })
        .close(300, 'a', 'b');

    it('flags an older token that is accepted after a newer token', () => {
      expect(rulesIn(written(120 + NS))).to.deep.equal(['S1']);
    });
    it('does not flag a write with an older token that begins before the newer write ends', () => {
      expectFine(written(120 - NS));
      expectFine(written(120));
    });
    it('does not flag a write of unknown outcome, nor a refused write', () => {
      for (const outcome of ['unknown', 'refused'] as const)
        expectFine(
          handedOver(100, 101)
            .effect('b', 110, { token: 2, answered: 120 })
            .effect('a', 130, { token: 1, outcome, believed: false })
            .close(300, 'a', 'b'),
        );
    });
    it('does not treat a write of unknown outcome as an accepted newer write', () => {
      expectFine(
        handedOver(100, 101)
          .effect('b', 110, { token: 2, answered: 120, outcome: 'unknown' })
          .effect('a', 130, { token: 1, believed: false })
          .close(300, 'a', 'b'),
      );
    });
    it('counts the writes to an unfenced resource that fencing would have prevented', () => {
      const builder = handedOver(100, 101)
        .effect('b', 110, { token: 2, answered: 120, resource: 'log' })
        .effect('a', 130, { token: 1, believed: false, resource: 'log' })
        .effect('a', 140, { token: 1, believed: false, resource: 'log', number: 2 })
        .close(300, 'a', 'b');
      const { findings, numbers } = check(runOf(builder.events), LIMITS);
      expect(findings).to.deep.equal([]);
      expect(numbers.saved).to.deep.equal({ effects: 2, holds: 1 });
    });
    it('checks resources and queues separately', () => {
      expectFine(
        two()
          .attempt('a', { token: 1, queued: 10, acquired: 20, released: 200 })
          .attempt('b', { token: 2, queue: 'r', queued: 30, acquired: 31, released: 200 })
          .effect('b', 110, { token: 2, queue: 'r' })
          .effect('a', 130, { token: 1 })
          .close(300, 'a', 'b'),
      );
    });
    it('distinguishes tokens that would be equal as JavaScript numbers', () => {
      const older = 2n ** 60n;
      const newer = older + 1n;
      const builder = two()
        .attempt('a', { token: older, queued: 10, acquired: 20, released: 100 })
        .attempt('b', { token: newer, queued: 30, acquired: 101, released: 200 })
        .effect('b', 110, { token: newer })
        .effect('a', 130, { token: older, believed: false });
      expect(rulesIn(builder.close(300, 'a', 'b'))).to.deep.equal(['S1']);
    });
  });

  describe('rules S2 (exclusion) and S3 (end of lost holds)', () => {
    it('flag a grant that is a nanosecond before the release of the earlier hold', () => {
      expect(rulesIn(handedOver(100 + NS, 100).close(300, 'a', 'b'))).to.deep.equal(['S2']);
      expectFine(handedOver(100, 100).close(300, 'a', 'b'));
    });
    it('do not flag a frozen holder that records "revoked" late, if its reads of `held` return false', () => {
      expectFine(
        frozenHolder(DEADLINE + 1, 9_000)
          .read('a', 2_050, true)
          .read('a', 8_999, false)
          .close(9_100, 'a', 'b'),
      );
    });
    it('flag a frozen holder whose read of `held` returns true after the next holder acquired', () => {
      const rules = rulesIn(
        frozenHolder(DEADLINE + 1, 9_000)
          .read('a', 8_999, true)
          .close(9_100, 'a', 'b'),
      );
      expect(rules).to.have.members(['S2', 'S2', 'S3']);
    });
    it('flag a holder that believes that it holds after its own deadline', () => {
      const builder = new HistoryBuilder()
        .worker('a', 0)
        .attempt('a', { token: 1, queued: 10, acquired: 20, revoked: 6_000 })
        .effect('a', PROVEN_MS + 1, { token: 1, outcome: 'refused' });
      expect(rulesIn(builder.close(6_100, 'a'))).to.deep.equal(['S2']);
    });
    it('flag a hold that begins after its own deadline, unless its worker recorded 0 ms of proven time', () => {
      const late = (remainingMs: number): HistoryBuilder =>
        new HistoryBuilder()
          .worker('a', 0)
          .attempt('a', { token: 1, queued: 10, acquired: PROVEN_MS + 1, remainingMs, revoked: 6_000 })
          .close(6_100, 'a');
      expect(rulesIn(late(5))).to.include('S2');
      expectFine(late(0));
    });
    it('flag a grant that a worker received during a later hold, unless its proven time had ended and it recorded 0 ms', () => {
      const received = (ms: number, remainingMs: number): HistoryBuilder =>
        new HistoryBuilder()
          .worker('a', 0)
          .worker('b', 0, 4_000)
          .attempt('a', { token: 1, queued: 10, acquired: ms, remainingMs, revoked: 6_000 })
          .attempt('b', { token: 2, queued: 20, acquired: ms - 1, released: 6_100 })
          .close(6_200, 'a', 'b');
      expect(rulesIn(received(PROVEN_MS + 2, 5))).to.include.members(['F1', 'S2']);
      expect(rulesIn(received(PROVEN_MS - 1, 0))).to.include.members(['F1', 'S2']);
      expectFine(received(PROVEN_MS + 2, 0));
    });
    it('flag a grant before the deadline of a frozen holder', () => {
      expect(rulesIn(frozenHolder(DEADLINE - NS, 9_000).close(9_100, 'a', 'b'))).to.deep.equal(['S2', 'S3']);
      expectFine(frozenHolder(DEADLINE, 9_000).close(9_100, 'a', 'b'));
    });
    it('do not let a heartbeat extend the proven time of a hold after that time has ended', () => {
      const late = frozenHolder(DEADLINE + 100, 9_000);
      late.tell('a', DEADLINE + 1, {
        ev: 'beat',
        session: 'a-session',
        sentAt: late.events[0]!.t,
        provenMs: 1e6,
      });
      expectFine(late.close(9_100, 'a', 'b'));
    });
    it('let a heartbeat extend the proven time of a hold if it is confirmed before that time ends', () => {
      const builder = frozenHolder(DEADLINE + 100, 9_000)
        .beat('a', 4_000)
        .close(9_100, 'a', 'b');
      expect(rulesIn(builder)).to.deep.equal(['S2', 'S3']);
    });
    it('regard a killed holder as no longer holding from the kill on', () => {
      const killed = (at: number): HistoryBuilder =>
        two()
          .attempt('a', { token: 1, queued: 10, acquired: 20 })
          .attempt('b', { token: 2, queued: 30, acquired: 101, released: 150 })
          .harness(at, { ev: 'killed', worker: 'a' })
          .close(300, 'b');
      expectFine(killed(100));
      expect(rulesIn(killed(102))).to.deep.equal(['S2', 'S3']);
    });
    it('flag a hold that begins after its proven deadline', () => {
      const builder = new HistoryBuilder()
        .worker('a', 0)
        .attempt('a', { token: 1, queued: 10, acquired: PROVEN_MS, released: PROVEN_MS + 1 });
      expect(rulesIn(builder.close(6_100, 'a'))).to.deep.equal(['S2']);
    });
    it('flag a holder that believes that it holds after its loss was recorded', () => {
      const builder = new HistoryBuilder()
        .worker('a', 0)
        .attempt('a', { token: 1, queued: 10, acquired: 20, revoked: 50 })
        .read('a', 51, true);
      expect(rulesIn(builder.close(6_100, 'a'))).to.deep.equal(['S2']);
    });
    it("excuse an overlap after an operator removed the holder's entry, within the limit evictionMs", () => {
      const evicted = (): HistoryBuilder => {
        const builder = handedOver(100, 60);
        const lost = builder.events.filter(
          ({ who, ev }) => !(who === 'a' && (ev === 'released' || ev === 'left')),
        );
        builder.events.splice(0, Infinity, ...lost);
        return builder
          .tell('a', 100, { ev: 'revoked', queue: 'q', n: 1, reason: 'entry-removed' })
          .close(300, 'a', 'b');
      };
      const removing = (key: string, from = 55): HistoryBuilder =>
        evicted().fault(1, { what: 'holder removed', target: 'q', entries: [{ key }], from, to: from + 3 });
      expect(rulesIn(evicted())).to.deep.equal(['S2', 'S3']);
      expect(rulesIn(evicted(), { evictionMs: 40 })).to.deep.equal(['S2', 'S3']);
      expect(rulesIn(removing('q/b-1'), { evictionMs: 39 })).to.deep.equal(['S2', 'S3']);
      expect(rulesIn(removing('q/a-1'), { evictionMs: 39 })).to.deep.equal(['S2', 'S3']);
      expect(rulesIn(removing('q/a-1', 61), { evictionMs: 40 })).to.deep.equal(['S2', 'S3']);
      expectFine(removing('q/a-1'), { evictionMs: 40 });
    });
    it('flag overlaps with a hold that is not the most recent one', () => {
      const builder = two()
        .worker('c', 0)
        .attempt('a', { token: 1, queued: 10, acquired: 20, released: 200 })
        .attempt('b', { token: 2, queued: 11, acquired: 30, released: 40 })
        .attempt('c', { token: 3, queued: 12, acquired: 50, released: 60 });
      expect(rulesIn(builder.close(300, 'a', 'b', 'c'))).to.deep.equal(['S2', 'S2']);
    });
    it("measure the time from a hold's end to the next grant, separately for lost and released holds", () => {
      const lost = check(runOf(frozenHolder(DEADLINE + 7, 9_000).close(9_100, 'a', 'b').events), LIMITS);
      expect(lost.numbers.gaps.lost[0]).to.be.closeTo(7, 1e-3);
      const released = check(runOf(handedOver(100, 103).close(300, 'a', 'b').events), LIMITS);
      expect(released.numbers.gaps.released[0]).to.be.closeTo(3, 1e-3);
    });
  });
});
