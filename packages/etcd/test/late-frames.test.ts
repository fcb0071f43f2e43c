import { expect } from 'chai';
import { FramePeer, frame, number } from './frame-peer.ts';

const END_STREAM = 1;
const END_HEADERS = 4;
const PADDED = 8;
/** The header `:status: 200` in HPACK, in hexadecimal. */
const STATUS_200 = '88';
const last = (id: number): Buffer => frame('HEADERS', { id, flags: END_STREAM | END_HEADERS }, STATUS_200);

describe('frames that arrive too late on an HTTP/2 connection of the transport socket', () => {
  it('ignores data that a peer sends after the end of a response, and continues other streams', async () => {
    const peer = await FramePeer.ready();
    const [ended, reset, other] = [peer.open(), peer.open(), peer.open()];
    const late = (id: number): Buffer => frame('DATA', { id, flags: PADDED }, Buffer.from('\u0001datax'));
    peer.send(last(1), late(1), late(1), frame('RST_STREAM', { id: 3 }, number(8)), late(3));
    peer.send(frame('HEADERS', { id: 5, flags: END_HEADERS }, STATUS_200), late(5), last(5));
    expect(ended.events).to.deep.equal([':status: 200', 'last headers', 'end']);
    expect(reset.events).to.deep.equal(['reset 8']);
    expect(other.events.slice(2)).to.deep.equal(['data', ':status: 200', 'last headers', 'end']);
    expect(peer.events).to.deep.equal(['ready']);
  });

  it('gives the peer the window of the connection back for data of ended and cancelled streams', async () => {
    const peer = await FramePeer.ready({}, { window: 20_000 });
    const streams = [peer.open(), peer.open(), peer.open()];
    peer.connection.cancel(streams[0]!);
    peer.send(last(3));
    await peer.sent();
    for (let i = 0; i < 40; i += 1)
      peer.send(frame('DATA', { id: i % 2 === 0 ? 1 : 3 }, Buffer.alloc(4_000)));
    const updates = (await peer.sent()).filter(({ type, id }) => type === 'WINDOW_UPDATE' && id === 0);
    const given = updates.reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0);
    expect(given).to.be.within(160_000 - 40_000, 160_000);
    expect(peer.events).to.deep.equal(['ready']);
  });

  it('reads nothing more after its end, not even the rest of an incomplete frame', async () => {
    const response = last(1);
    for (const length of [3, 9]) {
      const peer = await FramePeer.ready();
      const stream = peer.open();
      peer.send(response.subarray(0, length));
      peer.connection.close(0);
      peer.send(response.subarray(length));
      expect(stream.events).to.deep.equal([]);
    }
    const peer = new FramePeer();
    peer.send(Buffer.from('HTTP/1.1 4'), Buffer.from('00 Bad Request'));
    for (const byte of Buffer.from('HTTP/1.1 400')) peer.send(Buffer.from([byte]));
    expect(peer.events).to.have.length(1);
  });
});
