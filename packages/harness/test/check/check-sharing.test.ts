import { expect } from 'chai';
import { check } from '../../src/check.ts';
import { LIMITS, expectFine, messagesIn, rulesIn } from '../../src/check/judged.ts';
import { PROVEN_MS, HistoryBuilder, type Steps } from '../../src/check/history-builder.ts';
import type { Terms } from '../../src/check/event.ts';
import { runOf } from '../../src/check/history.ts';

const NS = 1e-6;
const READS: Terms = { shared: true };
const HEARTBEATS = [0, 1_000, 4_000, 8_000, 12_000, 16_000, 20_000];
const all = ['a', 'b', 'c', 'd'];

/** Starts a history with four workers that live until its end. */
const four = (): HistoryBuilder =>
  all.reduce((builder, who) => builder.worker(who, ...HEARTBEATS), new HistoryBuilder());
const permits = (count: number, limit = 3): Terms => ({ limit, permits: count });
const rulesOf = (builder: HistoryBuilder, endsAt = 300, living = all): string[] =>
  rulesIn(builder.close(endsAt, ...living));
const fine = (builder: HistoryBuilder, endsAt = 300, living = all): void =>
  expectFine(builder.close(endsAt, ...living));

interface First extends Partial<Steps> {
  /** How the attempt ends if not by a release: lost at 100 ms, or aborted at 70 ms while it waits. */
  readonly outcome?: 'lost' | 'gave up';
}

function firstSteps({ outcome, ...first }: First): Steps {
  const steps = { token: 1, queued: 10, ...first };
  if (outcome === 'gave up') return { ...steps, cancelled: 70 };
  return { acquired: 20, ...(outcome === 'lost' ? { revoked: 100 } : { released: 100 }), ...steps };
}

const gone = { outcome: 'gave up' } as const;

/** Builds a history in which worker `a` holds from 20 to 100 ms, and `b` from `acquired` to 150 ms. */
const overlap = (first: First, second: Partial<Steps>, acquired = 50): HistoryBuilder =>
  four()
    .attempt('a', firstSteps(first))
    .attempt('b', { token: 2, queued: 15, acquired, released: 150, ...second });

describe('rule S2 (exclusion) with shared holds', () => {
  describe('of read and write locks', () => {
    it('does not flag readers that hold at the same time', () => {
      fine(overlap({ terms: READS }, { terms: READS }));
    });
    it('flags a writer and a reader whose holds overlap by a nanosecond', () => {
      expect(rulesOf(overlap({ terms: READS }, {}, 100 - NS))).to.deep.equal(['S2']);
      expect(rulesOf(overlap({}, { terms: READS }, 100 - NS))).to.deep.equal(['S2']);
      fine(overlap({ terms: READS }, {}, 100));
      fine(overlap({}, { terms: READS }, 100));
    });
    it('flags a writer that overlaps an earlier reader, although a later reader has ended', () => {
      const builder = (acquired: number): HistoryBuilder =>
        overlap({ terms: READS, released: 120 }, { terms: READS, released: 60 }).attempt('c', {
          token: 3,
          queued: 30,
          acquired,
          released: 200,
        });
      expect(messagesIn(builder(110).close(300, ...all))[0]).to.contain(
        'S2: a#1 (token 1, released) believed 10.000 ms',
      );
      fine(builder(120));
    });
    it('flags a writer that begins while a frozen reader may still believe that it holds', () => {
      const frozen = (acquired: number): HistoryBuilder =>
        new HistoryBuilder()
          .worker('a', 0)
          .worker('b', ...HEARTBEATS)
          .attempt('a', { token: 1, queued: 10, acquired: 20, revoked: 9_000, terms: READS })
          .attempt('b', { token: 2, queued: 15, acquired, released: 9_500 })
          .harness(30, { ev: 'frozen', worker: 'a' })
          .harness(8_999, { ev: 'thawed', worker: 'a' });
      expect(rulesOf(frozen(PROVEN_MS - NS), 9_600, ['a', 'b'])).to.deep.equal(['S2', 'S3']);
      fine(frozen(PROVEN_MS), 9_600, ['a', 'b']);
    });
  });

  describe('of a write lock that becomes a read lock', () => {
    it('does not flag readers that hold after the holder has requested the downgrade', () => {
      fine(overlap({ downgrading: 50 }, { terms: READS }, 50));
      expect(rulesOf(overlap({ downgrading: 50 }, { terms: READS }, 50 - NS))).to.deep.equal(['S2']);
    });
    it('allows no writer before the holder releases', () => {
      expect(rulesOf(overlap({ downgrading: 50 }, {}, 100 - NS))).to.deep.equal(['S2']);
      fine(overlap({ downgrading: 50 }, {}, 100));
    });
    it('flags a writer that holds while a lost holder still believes that it holds', () => {
      const lost = { outcome: 'lost' } as const;
      expect(rulesOf(overlap({ downgrading: 50, ...lost }, {}, 99))).to.deep.equal(['S2', 'S3']);
      fine(overlap({ downgrading: 50, ...lost }, {}, 100));
    });
  });

  describe('of semaphores', () => {
    it('allows holders up to the number of permits, and flags a claim that exceeds it', () => {
      const builder = (third: Terms): HistoryBuilder =>
        overlap({ terms: permits(1) }, { terms: permits(1) }).attempt('c', {
          token: 3,
          queued: 30,
          acquired: 60,
          released: 70,
          terms: third,
        });
      fine(builder(permits(1)));
      expect(rulesOf(builder(permits(2)))).to.deep.equal(['S2']);
      expect(messagesIn(builder(permits(2)).close(300, ...all))[0]).to.contain('4 of 3 permits');
    });
    it('flags a claim that exceeds the permits for a nanosecond', () => {
      const builder = (acquired: number): HistoryBuilder =>
        overlap({ terms: permits(2), released: 100 }, { terms: permits(1) }).attempt('c', {
          token: 3,
          queued: 30,
          acquired,
          released: 200,
          terms: permits(2),
        });
      expect(rulesOf(builder(100 - NS))).to.deep.equal(['S2']);
      fine(builder(100));
    });
    it('flags a lost holder that still considers its permits held when they are granted again', () => {
      const lost = { outcome: 'lost' } as const;
      const builder = overlap({ terms: permits(3), ...lost }, { terms: permits(1) }, 99);
      expect(rulesOf(builder)).to.deep.equal(['S2', 'S3']);
    });
  });

  describe('of locks of several names', () => {
    /**
     * Builds a history in which worker `a` holds `r` from 20 ms until `released`. From 50 ms on, worker `b`
     * holds the names `q` and `r` together.
     */
    const crossing = (released: number, terms?: Terms): HistoryBuilder => {
      const both = { queued: 15, acquired: 50, released: 150, together: [1, 2] };
      return four()
        .attempt('a', { queue: 'r', token: 1, queued: 10, acquired: 20, released, ...(terms && { terms }) })
        .attempt('b', { n: 1, queue: 'q', token: 2, ...both, ...(terms && { terms }) })
        .attempt('b', { n: 2, queue: 'r', token: 2, ...both, ...(terms && { terms }) });
    };

    it('flags an overlap in one of the names', () => {
      expect(rulesOf(crossing(50 + NS))).to.deep.equal(['S2']);
      fine(crossing(50));
    });
    it('allows readers of several names beside other readers', () => {
      fine(crossing(120, READS));
    });
    it('flags a claim that is held in some of its names only', () => {
      const builder = four()
        .attempt('a', {
          n: 1,
          queue: 'q',
          token: 1,
          queued: 10,
          acquired: 20,
          released: 30,
          together: [1, 2],
        })
        .attempt('a', { n: 2, queue: 'r', token: 1, queued: 10, cancelled: 30, together: [1, 2] });
      expect(rulesOf(builder)).to.deep.equal(['story']);
    });
    it('does not flag a killed worker that recorded its grant for only some names', () => {
      const builder = four()
        .attempt('a', { n: 1, queue: 'q', token: 1, queued: 10, acquired: 20, together: [1, 2] })
        .attempt('a', { n: 2, queue: 'r', token: 1, queued: 10, together: [1, 2] })
        .harness(21, { ev: 'killed', worker: 'a' });
      fine(builder, 300, ['b', 'c', 'd']);
    });
  });
});

describe('rule F1 (order of grants) with shared holds', () => {
  it('does not flag a reader that is granted before an earlier reader', () => {
    fine(overlap({ terms: READS, acquired: 60 }, { terms: READS }));
    fine(overlap({ terms: READS, ...gone }, { terms: READS }));
  });
  it('flags a reader that is granted before an earlier writer, and a writer before an earlier reader', () => {
    expect(rulesOf(overlap({ ...gone }, { terms: READS }))).to.deep.equal(['F1']);
    expect(rulesOf(overlap({ terms: READS, ...gone }, {}))).to.deep.equal(['F1']);
  });
  it('flags a reader that passes a writer while readers hold', () => {
    const builder = overlap({ terms: READS }, { queued: 15, acquired: 100 + NS, released: 110 }).attempt(
      'c',
      {
        token: 3,
        queued: 30,
        acquired: 60,
        released: 70,
        terms: READS,
      },
    );
    expect(rulesOf(builder)).to.deep.equal(['F1']);
  });
  it('flags a writer that is granted after a later reader, and a reader after a later writer', () => {
    const late = { acquired: 200, released: 210 };
    expect(rulesOf(overlap(late, { terms: READS }))).to.deep.equal(['F1']);
    expect(rulesOf(overlap({ ...late, terms: READS }, {}))).to.deep.equal(['F1']);
  });
  it('does not flag claims that are granted out of order if the permits suffice for both claims', () => {
    fine(overlap({ terms: permits(1), acquired: 60 }, { terms: permits(2) }));
  });
  it('flags a claim for one permit that is granted before an earlier claim for all permits', () => {
    expect(rulesOf(overlap({ terms: permits(3), ...gone }, { terms: permits(1) }))).to.deep.equal(['F1']);
    expect(
      rulesOf(overlap({ terms: permits(3), acquired: 200, released: 210 }, { terms: permits(1) })),
    ).to.deep.equal(['F1']);
  });
  it('flags a claim for one permit that is granted before an earlier claim for two', () => {
    const builder = (third: number): HistoryBuilder =>
      overlap(
        { terms: permits(2), released: 200 },
        { terms: permits(2), acquired: 201, released: 210 },
      ).attempt('c', { token: 3, queued: 30, acquired: third, released: 300, terms: permits(1) });
    expect(rulesOf(builder(60), 400)).to.deep.equal(['F1']);
    expect(rulesOf(builder(200 - NS), 400)).to.deep.equal(['F1']);
    fine(builder(200), 400);
  });
  it('does not flag claims behind a claim that left before', () => {
    const builder = (cancelled: number): HistoryBuilder =>
      four()
        .attempt('a', { token: 1, queued: 10, acquired: 20, released: 200, terms: permits(2) })
        .attempt('b', { token: 2, queued: 15, cancelled, terms: permits(2) })
        .attempt('c', { token: 3, queued: 30, acquired: 60, released: 300, terms: permits(1) });
    expect(rulesOf(builder(60 + NS), 400)).to.deep.equal(['F1']);
    fine(builder(60), 400);
  });
  it('does not count the permits of a holder whose entry an operator has removed', () => {
    const builder = (entry: string): HistoryBuilder =>
      four()
        .attempt('a', { token: 1, queued: 10, acquired: 20, revoked: 62, terms: permits(2) })
        .attempt('b', { token: 2, queued: 15, acquired: 65, released: 200, terms: permits(1) })
        .attempt('c', { token: 3, queued: 30, acquired: 60, released: 300, terms: permits(1) })
        .fault(1, { what: 'removed', target: 'store', entries: [{ key: entry }], from: 40, to: 41 });
    expect(rulesOf(builder('q/another'), 400)).to.deep.equal(['F1']);
    fine(builder('q/a-1'), 400);
  });
  it('flags claims of several names whose order differs in one of the names', () => {
    const waits = (who: string, tokens: readonly [number, number]): Steps[] =>
      tokens.map((token, at) => ({
        n: at + 1,
        queue: ['q', 'r'][at]!,
        token,
        queued: 10,
        cancelled: 100,
        together: [1, 2],
        session: `${who}-session`,
      }));
    const builder = (second: readonly [number, number]): HistoryBuilder => {
      const history = four();
      for (const steps of waits('a', [1, 1])) history.attempt('a', steps);
      for (const steps of waits('b', second)) history.attempt('b', steps);
      for (const steps of waits('c', [9, 9])) history.attempt('c', steps);
      return history;
    };
    fine(builder([3, 4]));
    expect(rulesOf(builder([3, 0]))).to.deep.equal(['F1']);
    expect(rulesOf(builder([10, 4]))).to.deep.equal(['F1']);
  });
});

describe('rules of liveness with shared holds', () => {
  /**
   * Builds a history in which worker `a` is killed at 100 ms while it reads, `b` reads until `released`, and
   * `c` waits to write.
   */
  const crash = (released: number, acquired: number): HistoryBuilder =>
    four()
      .attempt('a', { token: 1, queued: 10, acquired: 20, terms: READS })
      .attempt('b', { token: 2, queued: 15, acquired: 25, released, terms: READS })
      .attempt('c', { token: 3, queued: 30, acquired, released: acquired + 10 })
      .harness(100, { ev: 'killed', worker: 'a' });
  const living = ['b', 'c', 'd'];

  it('let a waiter behind a dead reader wait until the last living reader releases (L1)', () => {
    fine(crash(9_000, 9_001), 20_500, living);
    expect(rulesOf(crash(1_000, 11_001), 20_500, living)).to.deep.equal(['L1']);
    fine(crash(1_000, 11_000), 20_500, living);
  });
  it('let a claim of several names wait as long as a living worker holds one of them (L1)', () => {
    const builder = (released: number, acquired: number): HistoryBuilder => {
      const both = { queued: 30, acquired, released: acquired + 10, together: [1, 2] };
      return four()
        .attempt('a', { token: 1, queued: 10, acquired: 20 })
        .attempt('b', { queue: 'r', token: 2, queued: 15, acquired: 25, released })
        .attempt('c', { n: 1, queue: 'q', token: 3, ...both })
        .attempt('c', { n: 2, queue: 'r', token: 3, ...both })
        .harness(100, { ev: 'killed', worker: 'a' });
    };
    fine(builder(9_000, 9_001), 20_500, living);
    expect(rulesOf(builder(1_000, 11_001), 20_500, living)).to.deep.equal(['L1']);
  });
  it("measure the time from the last reader's release to the grant of the writer (L2)", () => {
    const builder = overlap({ terms: READS, released: 100 }, { terms: READS, released: 60 }).attempt('c', {
      token: 3,
      queued: 30,
      acquired: 103,
      released: 110,
    });
    const { numbers } = check(runOf(builder.close(300, ...all).events), LIMITS);
    expect(numbers.handOvers.clean.map(Math.round)).to.deep.equal([3]);
    expect(numbers.gaps.released.map(Math.round)).to.deep.equal([3]);
  });
  it('flag a claim of several names that waits for ever (L3)', () => {
    const builder = four()
      .attempt('a', { n: 1, queue: 'q', token: 1, queued: 10, together: [1, 2] })
      .attempt('a', { n: 2, queue: 'r', token: 1, queued: 10, together: [1, 2] });
    expect(rulesOf(builder)).to.deep.equal(['L3', 'L3']);
  });
  it('are checked in one pass that also counts the holds by kind of claim', () => {
    const builder = overlap({ downgrading: 50 }, { terms: { leader: true } }, 100).attempt('c', {
      token: 3,
      queue: 's',
      queued: 30,
      acquired: 60,
      released: 70,
      terms: permits(2),
    });
    const { numbers } = check(runOf(builder.close(300, ...all).events), LIMITS);
    expect(numbers.kinds).to.deep.equal({
      'write lock turned into a read lock': 1,
      leadership: 1,
      permits: 1,
    });
  });
});
