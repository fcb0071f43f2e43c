import { expect } from 'chai';
import fc from 'fast-check';
import { applyUpdates, decodeHolds, printedText, type HoldUpdate } from '../src/past/hold-records.ts';

const update: HoldUpdate = {
  id: '0123456789abcdef',
  token: 12n,
  order: 12n,
  owner: 'host-1:4711',
  host: 'host-1',
  pid: 4711,
  beganAt: 1_700_000_000_000,
  alone: true,
};

const anyText = fc.string({ unit: 'binary', maxLength: 100 }).map(printedText);

const anyUpdate: fc.Arbitrary<HoldUpdate> = fc.record({
  id: fc.bigInt(0n, 40n).map((at) => at.toString(16).padStart(16, '0')),
  token: fc.bigInt(0n, 2n ** 63n - 1n),
  order: fc.bigInt(0n, 2n ** 63n - 1n),
  owner: anyText,
  host: fc.option(anyText, { nil: undefined }),
  pid: fc.option(fc.nat(), { nil: undefined }),
  beganAt: fc.nat(),
  alone: fc.boolean(),
  end: fc.option(
    fc.record({
      reason: fc.constantFrom('released' as const, 'entry-removed' as const),
      heldMs: fc.nat(),
      eviction: fc.record({ by: anyText, reason: anyText }),
    }),
    { nil: undefined },
  ),
});

describe('the record of holds', () => {
  it('is a text of fewer than 115 bytes that contains all data of a hold', () => {
    const ended = { ...update, end: { reason: 'released' as const, heldMs: 1_234 } };
    const text = applyUpdates(undefined, [ended], 5);
    expect(Buffer.byteLength(text)).to.be.below(115);
    expect(decodeHolds(text).map((hold) => ({ ...hold, alone: true }))).to.deep.equal([
      { ...ended, endedAtLatest: undefined },
    ]);
  });

  it('takes at most 4,096 bytes and the given number of holds', () => {
    fc.assert(
      fc.property(
        fc.array(anyUpdate, { minLength: 1, maxLength: 120 }),
        fc.integer({ min: 1, max: 100 }),
        (updates, last) => {
          const text = applyUpdates(undefined, updates, last);
          expect(Buffer.byteLength(text)).to.be.at.most(4_096);
          const holds = decodeHolds(text);
          expect(holds.length).to.be.within(1, last);
          expect(applyUpdates(text, [], last)).to.equal(text);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('keeps at least 30 holds with labels of usual length', () => {
    const updates = Array.from({ length: 60 }, (_, at) => ({
      ...update,
      id: String(at).padStart(16, '0'),
      token: BigInt(1_000_000 + at),
      order: BigInt(1_000_000 + at),
      end: { reason: 'released' as const, heldMs: 123_456 },
    }));
    const holds = decodeHolds(applyUpdates(undefined, updates, 100));
    expect(holds.length).to.be.at.least(30);
    expect(holds.at(-1)?.token).to.equal(1_000_059n);
  });

  it('lists holds in the order of their grants, even if they were written in another order', () => {
    const at = (id: number, token: bigint): HoldUpdate => ({
      ...update,
      id: String(id).padStart(16, '0'),
      token,
      order: token,
      beganAt: id,
      alone: false,
    });
    const tokens = (...updates: readonly HoldUpdate[]): readonly bigint[] =>
      decodeHolds(applyUpdates(undefined, updates, 9)).map(({ token }) => token);
    expect(tokens(at(2, 20n), at(1, 10n), at(3, 30n))).to.deep.equal([10n, 20n, 30n]);
    expect(tokens(at(1, 100n), at(2, 200n), at(3, 1n), at(4, 2n))).to.deep.equal([100n, 200n, 1n, 2n]);
  });

  it('contains an end time for earlier holds without a recorded end when a later hold is exclusive', () => {
    const open = (id: number, token: bigint, alone: boolean): HoldUpdate => ({
      ...update,
      id: String(id).padStart(16, '0'),
      token,
      order: token,
      beganAt: 100 + id,
      alone,
    });
    const endedAtLatest = (...updates: readonly HoldUpdate[]): readonly (number | undefined)[] =>
      decodeHolds(applyUpdates(undefined, updates, 9)).map((hold) => hold.endedAtLatest);
    expect(endedAtLatest(open(1, 1n, false), open(2, 2n, false))).to.deep.equal([undefined, undefined]);
    expect(endedAtLatest(open(1, 1n, false), open(2, 2n, false), open(3, 3n, true))).to.deep.equal([
      103,
      103,
      undefined,
    ]);
    expect(endedAtLatest(open(2, 2n, true), open(1, 1n, true))).to.deep.equal([undefined, undefined]);
    const end = { reason: 'released' as const, heldMs: 1 };
    expect(endedAtLatest(open(1, 1n, true), open(2, 2n, true), { ...open(1, 1n, true), end })).to.deep.equal([
      undefined,
      undefined,
    ]);
  });
});
