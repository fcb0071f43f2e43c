import { expect } from 'chai';
import { failureOf, RefusedCall, type EndWithoutStatus } from '../src/wire/call-errors.ts';

const INTERNAL_ERROR = 2;
const REFUSED_STREAM = 7;
const CANCEL = 8;
const ENHANCE_YOUR_CALM = 11;

const RESET = { http: undefined, type: undefined, isWhole: false, code: CANCEL };
const WHOLE = { http: 200, type: 'application/grpc', isWhole: true, code: 0 };
const REFUSED = { ...RESET, code: REFUSED_STREAM };
const failure = new Error('the member closed the connection');
const OPEN = { isOver: false, failure };
const OVER = { isOver: true, failure };

describe('the error of a call that ended without a gRPC status', () => {
  const ends: readonly (readonly [what: string, end: EndWithoutStatus, message: string])[] = [
    ['a reset before the headers', RESET, '14 UNAVAILABLE: the member reset the call (8)'],
    [
      'a reset after the headers',
      { ...RESET, http: 200, code: INTERNAL_ERROR },
      '14 UNAVAILABLE: the member reset the call (2)',
    ],
    [
      'a reset that limits the rate of calls',
      { ...RESET, code: ENHANCE_YOUR_CALM },
      '8 RESOURCE_EXHAUSTED: the member limits the rate of calls (ENHANCE_YOUR_CALM)',
    ],
    [
      'a whole response of gRPC',
      WHOLE,
      '2 UNKNOWN: the member responded with application/grpc without a gRPC status',
    ],
    [
      'a whole response without a content type',
      { ...WHOLE, type: undefined },
      '2 UNKNOWN: the member responded with nothing without a gRPC status',
    ],
    [
      'the HTTP status 401',
      { ...WHOLE, http: 401 },
      '16 UNAUTHENTICATED: the member responded with HTTP status 401',
    ],
    [
      'the HTTP status 403',
      { ...WHOLE, http: 403 },
      '7 PERMISSION_DENIED: the member responded with HTTP status 403',
    ],
    [
      'the HTTP status 404',
      { ...WHOLE, http: 404 },
      '12 UNIMPLEMENTED: the member responded with HTTP status 404',
    ],
    [
      'the HTTP status 502',
      { ...WHOLE, http: 502 },
      '14 UNAVAILABLE: the member responded with HTTP status 502',
    ],
  ];
  for (const [what, end, message] of ends) {
    it(`names what the member sent if the connection is open: ${what}`, () => {
      const error = failureOf(end, OPEN);
      expect(error.message).to.equal(message);
      expect(error).to.not.be.instanceOf(RefusedCall);
    });

    it(`is UNAVAILABLE with the error of the connection if that has ended: ${what}`, () => {
      const error = failureOf(end, OVER);
      expect(error.message).to.equal('14 UNAVAILABLE: the member closed the connection');
      expect(error).to.not.be.instanceOf(RefusedCall);
    });
  }

  it('is a refusal if the member refused the call, also when the connection has ended', () => {
    for (const link of [OPEN, OVER]) {
      const error = failureOf(REFUSED, link);
      expect(error).to.be.instanceOf(RefusedCall);
      expect(error.message).to.equal('14 UNAVAILABLE: the member reset the call (7)');
    }
  });

  it('is not a refusal if the member had begun to respond before it reset the call', () => {
    const begun = { ...REFUSED, http: 200 };
    expect(failureOf(begun, OPEN)).to.not.be.instanceOf(RefusedCall);
    expect(failureOf(begun, OPEN).message).to.equal('14 UNAVAILABLE: the member reset the call (7)');
    expect(failureOf(begun, OVER).message).to.equal('14 UNAVAILABLE: the member closed the connection');
  });
});
