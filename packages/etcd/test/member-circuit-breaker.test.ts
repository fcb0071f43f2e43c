import { expect } from 'chai';
import { GrpcError } from '../src/driver/grpc-status.ts';
import { Failures, MemberCircuitBreaker } from '../src/driver/member-circuit-breaker.ts';

const BROKEN = new GrpcError('UNAVAILABLE', 'connect ECONNREFUSED');

function fails(way: MemberCircuitBreaker): void {
  way.begin().failed(BROKEN);
}

describe('the circuit breaker of an etcd member', () => {
  let way: MemberCircuitBreaker;
  beforeEach(() => {
    way = new MemberCircuitBreaker(new Failures());
  });

  it('is closed while the member works, and after an established connection broke', () => {
    const all = [way.begin(), way.begin(), way.begin()];
    for (const passage of all) passage.failed(BROKEN);
    way.begin();
    way.begin();
  });

  it('opens for a while after two failures, and names the reason', () => {
    fails(way);
    fails(way);
    expect(() => way.begin()).to.throw(/^14 UNAVAILABLE: no connection; the last attempt: .*ECONNREFUSED/);
  });

  it('ignores replies of the member, timeouts, and calls that were not sent', () => {
    const ends = [
      new GrpcError('UNAVAILABLE', 'etcdserver: no leader'),
      new GrpcError('DEADLINE_EXCEEDED', 'no answer within 1500 ms'),
      new GrpcError('INVALID_ARGUMENT', 'etcdserver: too many operations in txn request'),
      new Error('the client was already closed'),
    ];
    for (let round = 0; round < 3; round += 1) for (const end of ends) way.begin().failed(end);
    way.begin();
  });

  it('closes again after a call has succeeded', () => {
    const earlier = way.begin();
    fails(way);
    fails(way);
    earlier.succeeded();
    way.begin();
    way.begin();
  });

  it('closes again after the member has responded, also with a refusal', () => {
    const earlier = way.begin();
    fails(way);
    fails(way);
    earlier.failed(new GrpcError('UNAVAILABLE', 'etcdserver: no leader'));
    way.begin();
    way.begin();
  });

  it('opens for failing members when several have failed recently, and stays closed for the others', () => {
    const failures = new Failures();
    const [first, second, sound] = [
      new MemberCircuitBreaker(failures),
      new MemberCircuitBreaker(failures),
      new MemberCircuitBreaker(failures),
    ];
    for (const bad of [first, second]) fails(bad);
    expect(failures.areMany).to.equal(true);
    for (const bad of [first, second]) expect(() => bad.begin()).to.throw(/no connection/);
    sound.begin();
    sound.begin();
  });

  describe('with any number of failing members', () => {
    const now = performance.now.bind(performance);
    let laterMs: number;
    let failures: Failures;
    let ways: readonly MemberCircuitBreaker[];
    beforeEach(() => {
      laterMs = 0;
      performance.now = () => now() + laterMs;
      failures = new Failures();
      ways = [
        new MemberCircuitBreaker(failures),
        new MemberCircuitBreaker(failures),
        new MemberCircuitBreaker(failures),
      ];
      for (const way of ways) fails(way);
    });
    afterEach(() => {
      performance.now = now;
    });

    function opened(afterMs: number): readonly MemberCircuitBreaker[] {
      laterMs += afterMs;
      return ways.filter((way) => {
        try {
          way.begin().failed(BROKEN);
          return true;
        } catch {
          return false;
        }
      });
    }

    it('allows two attempts in two seconds', () => {
      for (let round = 0; round < 3; round += 1) {
        expect(opened(1_900), `too early in round ${round}`).to.have.length(0);
        expect(opened(1_100), `in round ${round}`).to.have.length(2);
      }
    });

    it('allows two attempts in three seconds when failures last, and closes after a reply', () => {
      opened(10_100);
      for (let round = 0; round < 3; round += 1) {
        expect(opened(2_900), `too early in round ${round}`).to.have.length(0);
        expect(opened(200), `in round ${round}`).to.have.length(2);
      }
      failures.succeeded();
      opened(3_100);
      expect(opened(2_900)).to.have.length(2);
    });
  });
});
