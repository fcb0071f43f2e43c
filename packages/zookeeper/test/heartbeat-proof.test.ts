import { expect } from 'chai';
import { HeartbeatProof } from '../src/session/heartbeat-proof.ts';

/** A proof with a timeout of 1000: a heartbeat is proven when a heartbeat sent at least 200 later is acknowledged. */
const opened = (): HeartbeatProof => new HeartbeatProof(1_000, 100);

describe('the proof of acknowledged heartbeats', () => {
  it('is the start of the connection for the first heartbeat', () => {
    expect(opened().acknowledged(150)).to.equal(100);
  });

  it('is the time of the previous heartbeat when the interval is steady', () => {
    const heartbeats = opened();
    expect([150, 400, 650, 900].map((at) => heartbeats.acknowledged(at))).to.deep.equal([100, 150, 400, 650]);
  });

  it('is an older heartbeat when the previous one is too young to have been counted', () => {
    const heartbeats = opened();
    for (const at of [150, 250, 350]) heartbeats.acknowledged(at);
    expect(heartbeats.acknowledged(400)).to.equal(150);
    expect(heartbeats.acknowledged(450)).to.equal(250);
    expect(heartbeats.acknowledged(549)).to.equal(250);
    expect(heartbeats.acknowledged(550)).to.equal(350);
  });

  it('includes a heartbeat that was sent exactly a fifth of the timeout before', () => {
    const heartbeats = opened();
    heartbeats.acknowledged(150);
    expect(heartbeats.acknowledged(350)).to.equal(150);
  });

  it('is the time of the disconnect for the first heartbeat after a reconnect', () => {
    const heartbeats = opened();
    heartbeats.acknowledged(150);
    heartbeats.acknowledged(400);
    heartbeats.disconnected(500);
    expect(heartbeats.acknowledged(900)).to.equal(500);
  });

  it('forgets the heartbeats of the connection before', () => {
    const heartbeats = opened();
    for (const at of [150, 400, 490]) heartbeats.acknowledged(at);
    heartbeats.disconnected(500);
    expect(heartbeats.acknowledged(600)).to.equal(500);
    expect(heartbeats.acknowledged(790)).to.equal(500);
    expect(heartbeats.acknowledged(800)).to.equal(600);
  });

  it('never goes back, also when a late reply to an older heartbeat arrives', () => {
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
