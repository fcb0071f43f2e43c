import { expect } from 'chai';
import { HeartbeatProof } from '../src/session/heartbeat-proof.ts';

/** A proof with a timeout of 1000: a heartbeat is proven when a heartbeat sent at least 200 later is acknowledged. */
const opened = (): HeartbeatProof => new HeartbeatProof(1_000, 100);

describe('the proof of acknowledged heartbeats', () => {
  it('is the start of the connection for the first heartbeat', () => {
    expect(opened().acknowledged(150)).to.equal(100);
  });

  it('is the previous heartbeat at a steady interval', () => {
    const beats = opened();
    expect([150, 400, 650, 900].map((at) => beats.acknowledged(at))).to.deep.equal([100, 150, 400, 650]);
  });

  it('is an older heartbeat when the previous one is too young to have been counted', () => {
    const beats = opened();
    for (const at of [150, 250, 350]) beats.acknowledged(at);
    expect(beats.acknowledged(400)).to.equal(150);
    expect(beats.acknowledged(450)).to.equal(250);
    expect(beats.acknowledged(549)).to.equal(250);
    expect(beats.acknowledged(550)).to.equal(350);
  });

  it('counts a heartbeat that was sent exactly the gap before', () => {
    const beats = opened();
    beats.acknowledged(150);
    expect(beats.acknowledged(350)).to.equal(150);
  });

  it('is the time of the disconnect for the first heartbeat after a reconnect', () => {
    const beats = opened();
    beats.acknowledged(150);
    beats.acknowledged(400);
    beats.disconnected(500);
    expect(beats.acknowledged(900)).to.equal(500);
  });

  it('forgets the heartbeats of the connection before', () => {
    const beats = opened();
    for (const at of [150, 400, 490]) beats.acknowledged(at);
    beats.disconnected(500);
    expect(beats.acknowledged(600)).to.equal(500);
    expect(beats.acknowledged(790)).to.equal(500);
    expect(beats.acknowledged(800)).to.equal(600);
  });

  it('never goes back, also when a late reply to an older heartbeat arrives', () => {
    const beats = opened();
    for (const at of [150, 400, 650]) beats.acknowledged(at);
    expect(beats.acknowledged(410)).to.equal(400);
  });

  it('is the later one of two disconnects in a row', () => {
    const beats = opened();
    beats.disconnected(500);
    beats.disconnected(700);
    expect(beats.acknowledged(900)).to.equal(700);
  });
});
