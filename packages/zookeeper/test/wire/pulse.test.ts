import { expect } from 'chai';
import { needOf } from '../../src/wire/pulse.ts';

const TIMEOUT_MS = 9_000;

describe('a connection to ZooKeeper', () => {
  const needs = (receivedAt: number, sentAt: number, now: number): unknown =>
    needOf({ receivedAt, sentAt }, now, TIMEOUT_MS);

  it('needs a ping when nothing was sent for a third of the session timeout', () => {
    expect(needs(0, 0, 2_999)).to.deep.equal({ type: 'wait', ms: 1 });
    expect(needs(0, 0, 3_000)).to.deep.equal({ type: 'ping' });
    expect(needs(2_900, 0, 3_000)).to.deep.equal({ type: 'ping' });
    expect(needs(0, 2_000, 3_000)).to.deep.equal({ type: 'wait', ms: 2_000 });
  });

  it('is dead when nothing was received for two thirds of the session timeout, whatever was sent', () => {
    expect(needs(0, 3_000, 5_999)).to.deep.equal({ type: 'wait', ms: 1 });
    expect(needs(0, 3_000, 6_000)).to.deep.equal({ type: 'end' });
    expect(needs(0, 6_000, 6_000)).to.deep.equal({ type: 'end' });
    expect(needs(3_000, 3_000, 6_000)).to.deep.equal({ type: 'ping' });
  });
});
