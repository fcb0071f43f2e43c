import { expect } from 'chai';
import fc from 'fast-check';
import { compareEpochTokens, decodeEpochToken, encodeEpochToken, type EpochToken } from '../src/index.ts';

const token = (max: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: 1n, max });
const encodable: fc.Arbitrary<EpochToken> = fc.record({
  epoch: fc.integer({ min: 0, max: 127 }),
  token: fc.oneof(token(3n), token(2n ** 56n - 1n), fc.constant(2n ** 56n - 1n)),
});

describe('epoch tokens', () => {
  it('are compared by epoch first, then by token', () => {
    const inOrder: EpochToken[] = [
      { epoch: 0, token: 1n },
      { epoch: 0, token: 2n ** 64n - 1n },
      { epoch: 1, token: 1n },
      { epoch: 1, token: 2n },
    ];
    const sorted = inOrder.toReversed().sort(compareEpochTokens);
    expect(sorted).to.deep.equal(inOrder);
  });

  it('are encoded in a signed 64-bit column in the same order, and decoded again', () => {
    fc.assert(
      fc.property(encodable, encodable, (a, b) => {
        const [x, y] = [encodeEpochToken(a), encodeEpochToken(b)];
        expect(Math.sign(Number(x - y))).to.equal(compareEpochTokens(a, b));
        expect(x <= 2n ** 63n - 1n && x > 0n).to.equal(true);
        expect(decodeEpochToken(x)).to.deep.equal(a);
      }),
    );
  });

  it('are encoded as the plain token in epoch 0', () => {
    expect(encodeEpochToken({ epoch: 0, token: 1042n })).to.equal(1042n);
  });

  it('are refused, with value and rule in the error, when they do not fit into the column', () => {
    const refusals: [EpochToken, RegExp][] = [
      [{ epoch: 1, token: 2n ** 56n }, /token is below 2\^56 .*two columns; got 72057594037927936/],
      [{ epoch: 128, token: 1n }, /epoch is at most 127 .*got 128/],
      [{ epoch: -1, token: 1n }, /epoch is a whole number from 0; got -1/],
      [{ epoch: 0.5, token: 1n }, /epoch is a whole number from 0; got 0.5/],
      [{ epoch: 0, token: 0n }, /token is a bigint from 1/],
      [{ epoch: 0, token: 7 as unknown as bigint }, /token is a bigint from 1 .*got 7/],
    ];
    for (const [input, rule] of refusals) expect(() => encodeEpochToken(input)).to.throw(rule);
    expect(() => decodeEpochToken(-1n)).to.throw(
      /encoded is a bigint that encodeEpochToken returned; got -1/,
    );
    expect(() => decodeEpochToken(128n << 56n)).to.throw(/INVALID_ARGUMENT/);
  });
});
