import { expect } from 'chai';
import { GrpcError } from '../src/driver/grpc-status.ts';
import { Failures, Way } from '../src/driver/way.ts';

const BROKEN = new GrpcError('UNAVAILABLE', 'connect ECONNREFUSED');

function fails(way: Way): void {
  way.enter().ended(BROKEN);
}

describe('the way to a member', () => {
  let way: Way;
  beforeEach(() => {
    way = new Way(new Failures());
  });

  it('is open to all as long as it works, and after a connection that broke under them', () => {
    const all = [way.enter(), way.enter(), way.enter()];
    for (const passage of all) passage.ended(BROKEN);
    way.enter();
    way.enter();
  });

  it('is closed for a while after two failures, and says why', () => {
    fails(way);
    fails(way);
    expect(() => way.enter()).to.throw(/^14 UNAVAILABLE: no connection; the last attempt: .*ECONNREFUSED/);
  });

  it('is no worse for answers of the member, for silence, and for calls that were not made', () => {
    const ends = [
      new GrpcError('UNAVAILABLE', 'etcdserver: no leader'),
      new GrpcError('DEADLINE_EXCEEDED', 'no answer within 1500 ms'),
      new GrpcError('INVALID_ARGUMENT', 'etcdserver: too many operations in txn request'),
      new Error('the client was already closed'),
    ];
    for (let round = 0; round < 3; round += 1) for (const end of ends) way.enter().ended(end);
    way.enter();
  });

  it('is open again once somebody has come through', () => {
    const earlier = way.enter();
    fails(way);
    fails(way);
    earlier.worked();
    way.enter();
    way.enter();
  });

  it('is open again once the member has answered, also if that was a refusal', () => {
    const earlier = way.enter();
    fails(way);
    fails(way);
    earlier.ended(new GrpcError('UNAVAILABLE', 'etcdserver: no leader'));
    way.enter();
    way.enter();
  });

  it('is closed to members in trouble when several have failed of late, and open to the others', () => {
    const failures = new Failures();
    const [first, second, sound] = [new Way(failures), new Way(failures), new Way(failures)];
    for (const bad of [first, second]) fails(bad);
    expect(failures.areMany).to.equal(true);
    for (const bad of [first, second]) expect(() => bad.enter()).to.throw(/no connection/);
    sound.enter();
    sound.enter();
  });

  describe('at members in trouble, however many those are', () => {
    const now = performance.now.bind(performance);
    let laterMs: number;
    let failures: Failures;
    let ways: readonly Way[];
    beforeEach(() => {
      laterMs = 0;
      performance.now = () => now() + laterMs;
      failures = new Failures();
      ways = [new Way(failures), new Way(failures), new Way(failures)];
      for (const way of ways) fails(way);
    });
    afterEach(() => {
      performance.now = now;
    });

    function opened(afterMs: number): readonly Way[] {
      laterMs += afterMs;
      return ways.filter((way) => {
        try {
          way.enter().ended(BROKEN);
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
      failures.worked();
      opened(3_100);
      expect(opened(2_900)).to.have.length(2);
    });
  });
});
