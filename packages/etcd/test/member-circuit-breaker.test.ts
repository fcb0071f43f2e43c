import { expect } from 'chai';
import { GrpcError } from '../src/driver/grpc-status.ts';
import { Failures, MemberCircuitBreaker } from '../src/driver/member-circuit-breaker.ts';

const BROKEN = new GrpcError('UNAVAILABLE', 'connect ECONNREFUSED');

function fails(breaker: MemberCircuitBreaker): void {
  breaker.begin().failed(BROKEN);
}

describe('the circuit breaker of an etcd member', () => {
  let breaker: MemberCircuitBreaker;
  beforeEach(() => {
    breaker = new MemberCircuitBreaker(new Failures());
  });

  it('allows further calls after several calls failed together with their connection', () => {
    const all = [breaker.begin(), breaker.begin(), breaker.begin()];
    for (const passage of all) passage.failed(BROKEN);
    breaker.begin();
    breaker.begin();
  });

  it('rejects calls after two failed ones, with the reason of the last failure', () => {
    fails(breaker);
    fails(breaker);
    expect(() => breaker.begin()).to.throw(
      /^14 UNAVAILABLE: no connection; the last attempt: .*ECONNREFUSED/,
    );
  });

  it('does not count responses of the member, timeouts, and unsent calls as failures', () => {
    const ends = [
      new GrpcError('UNAVAILABLE', 'etcdserver: no leader'),
      new GrpcError('DEADLINE_EXCEEDED', 'no response within 1500 ms'),
      new GrpcError('INVALID_ARGUMENT', 'etcdserver: too many operations in txn request'),
      new Error('the client was already closed'),
    ];
    for (let round = 0; round < 3; round += 1) for (const end of ends) breaker.begin().failed(end);
    breaker.begin();
  });

  it('allows calls again after a call has succeeded', () => {
    const earlier = breaker.begin();
    fails(breaker);
    fails(breaker);
    earlier.succeeded();
    breaker.begin();
    breaker.begin();
  });

  it('allows calls again after any response of the member, even a refusal', () => {
    const earlier = breaker.begin();
    fails(breaker);
    fails(breaker);
    earlier.failed(new GrpcError('UNAVAILABLE', 'etcdserver: no leader'));
    breaker.begin();
    breaker.begin();
  });

  it('rejects only calls to failing members when several members have failed recently', () => {
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
    let breakers: readonly MemberCircuitBreaker[];
    beforeEach(() => {
      laterMs = 0;
      performance.now = () => now() + laterMs;
      failures = new Failures();
      breakers = [
        new MemberCircuitBreaker(failures),
        new MemberCircuitBreaker(failures),
        new MemberCircuitBreaker(failures),
      ];
      for (const breaker of breakers) fails(breaker);
    });
    afterEach(() => {
      performance.now = now;
    });

    function opened(afterMs: number): readonly MemberCircuitBreaker[] {
      laterMs += afterMs;
      return breakers.filter((breaker) => {
        try {
          breaker.begin().failed(BROKEN);
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

    it('allows two attempts in three seconds during a long outage', () => {
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
