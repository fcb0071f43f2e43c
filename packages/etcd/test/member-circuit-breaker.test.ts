import { expect } from 'chai';
import { GrpcError } from '../src/driver/grpc-status.ts';
import { Failures, MemberCircuitBreaker } from '../src/driver/member-circuit-breaker.ts';

const BROKEN = new GrpcError('UNAVAILABLE', 'connect ECONNREFUSED');

function fails(way: MemberCircuitBreaker): void {
  way.begin().failed(BROKEN);
}

describe('the way to a member', () => {
  let way: MemberCircuitBreaker;
  beforeEach(() => {
    way = new MemberCircuitBreaker(new Failures());
  });

  it('is open to all as long as it works, and after a connection that broke under them', () => {
    const all = [way.begin(), way.begin(), way.begin()];
    for (const passage of all) passage.failed(BROKEN);
    way.begin();
    way.begin();
  });

  it('is closed for a while after two failures, and says why', () => {
    fails(way);
    fails(way);
    expect(() => way.begin()).to.throw(/^14 UNAVAILABLE: no connection; the last attempt: .*ECONNREFUSED/);
  });

  it('is no worse for answers of the member, for silence, and for calls that were not made', () => {
    const ends = [
      new GrpcError('UNAVAILABLE', 'etcdserver: no leader'),
      new GrpcError('DEADLINE_EXCEEDED', 'no answer within 1500 ms'),
      new GrpcError('INVALID_ARGUMENT', 'etcdserver: too many operations in txn request'),
      new Error('the client was already closed'),
    ];
    for (let round = 0; round < 3; round += 1) for (const end of ends) way.begin().failed(end);
    way.begin();
  });

  it('is open again once somebody has come through', () => {
    const earlier = way.begin();
    fails(way);
    fails(way);
    earlier.succeeded();
    way.begin();
    way.begin();
  });

  it('is open again once the member has answered, also if that was a refusal', () => {
    const earlier = way.begin();
    fails(way);
    fails(way);
    earlier.failed(new GrpcError('UNAVAILABLE', 'etcdserver: no leader'));
    way.begin();
    way.begin();
  });

  it('is closed to members in trouble when several have failed of late, and open to the others', () => {
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

  describe('at members in trouble, however many those are', () => {
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

    it('is open to two attempts in two seconds', () => {
      for (let round = 0; round < 3; round += 1) {
        expect(opened(1_900), `too early in round ${round}`).to.have.length(0);
        expect(opened(1_100), `in round ${round}`).to.have.length(2);
      }
    });

    it('is open to two in three seconds when that lasts, and as before when somebody has answered', () => {
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
