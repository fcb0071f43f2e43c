import { expect } from 'chai';
import { HeartbeatProof } from '../src/session/heartbeat-proof.ts';

/**
 * Creates the proof of a session with a timeout of 1,000 ms, whose connection was started at the time 100. An
 * acknowledged heartbeat then proves the heartbeats that were sent at least 200 ms earlier.
 */
const opened = (): HeartbeatProof => new HeartbeatProof(1_000, 100);

describe('the start of the proven TTL of a ZooKeeper session', () => {
  it('is the start of the connection once the first heartbeat is acknowledged', () => {
    expect(opened().acknowledged(150)).to.equal(100);
  });

  it('is the previous heartbeat when the interval is steady', () => {
    const heartbeats = opened();
    expect([150, 400, 650, 900].map((at) => heartbeats.acknowledged(at))).to.deep.equal([100, 150, 400, 650]);
  });

  it('is a heartbeat at least a fifth of the timeout ago, even if heartbeats are closer together', () => {
    const heartbeats = opened();
    for (const at of [150, 250, 350]) heartbeats.acknowledged(at);
    expect(heartbeats.acknowledged(400)).to.equal(150);
    expect(heartbeats.acknowledged(450)).to.equal(250);
    expect(heartbeats.acknowledged(549)).to.equal(250);
    expect(heartbeats.acknowledged(550)).to.equal(350);
  });

  it('can be a heartbeat that was sent exactly a fifth of the timeout ago', () => {
    const heartbeats = opened();
    heartbeats.acknowledged(150);
    expect(heartbeats.acknowledged(350)).to.equal(150);
  });

  it('is the disconnect once the first heartbeat after the reconnect is acknowledged', () => {
    const heartbeats = opened();
    heartbeats.acknowledged(150);
    heartbeats.acknowledged(400);
    heartbeats.disconnected(500);
    expect(heartbeats.acknowledged(900)).to.equal(500);
  });

  it('does not depend on heartbeats of an earlier connection', () => {
    const heartbeats = opened();
    for (const at of [150, 400, 490]) heartbeats.acknowledged(at);
    heartbeats.disconnected(500);
    expect(heartbeats.acknowledged(600)).to.equal(500);
    expect(heartbeats.acknowledged(790)).to.equal(500);
    expect(heartbeats.acknowledged(800)).to.equal(600);
  });

  it('never moves back when a late reply to an older heartbeat arrives', () => {
    const heartbeats = opened();
    for (const at of [150, 400, 650]) heartbeats.acknowledged(at);
    expect(heartbeats.acknowledged(410)).to.equal(400);
  });

  it('is the later one of two disconnects in a row', () => {
    const heartbeats = opened();
    heartbeats.disconnected(500);
    heartbeats.disconnected(700);
    expect(heartbeats.acknowledged(900)).to.equal(700);
  });
});
