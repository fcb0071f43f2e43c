import { expect } from 'chai';
import { STREAMS_BEFORE_SETTINGS } from '../src/frames/protocol.ts';
import { FramePeer, RecordedStream, frame, number, settings } from './frame-peer.ts';

const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const PADDED = 8;
const PRIORITY = 0x20;
/** The header `:status: 200` in HPACK, in hexadecimal. */
const STATUS_200 = '88';
const last = (id: number): Buffer => frame('HEADERS', { id, flags: END_STREAM | END_HEADERS }, STATUS_200);

describe('an HTTP/2 connection of the transport socket', () => {
  describe('ends with an error when the peer', () => {
    const huge = Buffer.from([0, 0x40, 1, 0, 0, 0, 0, 0, 0]);
    const block = (hex: string): Buffer => frame('HEADERS', { id: 1, flags: END_HEADERS }, hex);
    const many = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array<Buffer>(count).fill(bytes));
    const violations: readonly (readonly [what: string, bytes: Buffer, error: RegExp])[] = [
      ['sends a frame of more than 16 kB', huge, /16385 bytes \(FRAME_SIZE_ERROR\)/],
      ['sends data on stream 0', frame('DATA'), /stream 0.*PROTOCOL_ERROR/],
      ['sends data on a stream that is not open', frame('DATA', { id: 3 }), /stream 3.*PROTOCOL_ERROR/],
      [
        'opens a stream itself',
        frame('HEADERS', { id: 2, flags: END_HEADERS }, '88'),
        /stream 2.*PROTOCOL_ERROR/,
      ],
      ['resets with three bytes', frame('RST_STREAM', { id: 1 }, '000000'), /3 bytes \(FRAME_SIZE_ERROR/],
      ['resets a stream that is not open', frame('RST_STREAM', { id: 5 }, number(0)), /stream 5.*PROTOCOL/],
      ['sends a ping of seven bytes', frame('PING', {}, '00000000000000'), /7 bytes \(FRAME_SIZE_ERROR/],
      ['sends a ping on a stream', frame('PING', { id: 1 }, Buffer.alloc(8)), /PROTOCOL_ERROR/],
      ['sends settings of five bytes', frame('SETTINGS', {}, '0000000000'), /FRAME_SIZE_ERROR/],
      ['sends settings on a stream', frame('SETTINGS', { id: 1 }), /PROTOCOL_ERROR/],
      [
        'acknowledges with a payload',
        frame('SETTINGS', { flags: ACK }, settings({ 1: 0 })),
        /FRAME_SIZE_ERROR/,
      ],
      ['enables push', frame('SETTINGS', {}, settings({ 2: 1 })), /push.*PROTOCOL_ERROR/],
      ['permits a window of 2 GB', frame('SETTINGS', {}, settings({ 4: 2 ** 31 })), /FLOW_CONTROL_ERROR/],
      ['permits frames of 100 bytes only', frame('SETTINGS', {}, settings({ 5: 100 })), /PROTOCOL_ERROR/],
      ['grows a window by 0', frame('WINDOW_UPDATE', {}, number(0)), /PROTOCOL_ERROR/],
      [
        'grows the window of the connection beyond 2 GB',
        frame('WINDOW_UPDATE', {}, number(2 ** 31 - 1)),
        /2147483647 bytes \(FLOW_CONTROL_ERROR/,
      ],
      [
        'grows the window of a stream beyond 2 GB',
        frame('WINDOW_UPDATE', { id: 1 }, number(2 ** 31 - 1)),
        /FLOW_CONTROL_ERROR/,
      ],
      ['continues no headers', frame('CONTINUATION', { id: 1 }), /continuation.*PROTOCOL_ERROR/],
      [
        'sends another frame between headers and their continuation',
        Buffer.concat([frame('HEADERS', { id: 1 }, '88'), frame('PING', {}, Buffer.alloc(8))]),
        /between.*PROTOCOL_ERROR/,
      ],
      [
        'continues the headers of another stream',
        Buffer.concat([frame('HEADERS', { id: 1 }, '88'), frame('CONTINUATION', { id: 3 })]),
        /continuation.*PROTOCOL_ERROR/,
      ],
      [
        'continues headers for ever',
        Buffer.concat([frame('HEADERS', { id: 1 }), many(40, frame('CONTINUATION', { id: 1 }))]),
        /ENHANCE_YOUR_CALM/,
      ],
      [
        'continues headers of more than 64 kB',
        Buffer.concat([
          frame('HEADERS', { id: 1 }),
          many(5, frame('CONTINUATION', { id: 1 }, Buffer.alloc(16_384))),
        ]),
        /ENHANCE_YOUR_CALM/,
      ],
      ['pads more than there is', frame('DATA', { id: 1, flags: PADDED }, '0500'), /padding.*PROTOCOL_ERROR/],
      ['pads an empty frame', frame('DATA', { id: 1, flags: PADDED }), /FRAME_SIZE_ERROR/],
      ['sends half a priority', frame('HEADERS', { id: 1, flags: PRIORITY }, '0000'), /FRAME_SIZE_ERROR/],
      ['sends a priority of four bytes', frame('PRIORITY', { id: 1 }, number(0)), /FRAME_SIZE_ERROR/],
      ['pushes', frame('PUSH_PROMISE', { id: 1 }, number(2)), /push.*PROTOCOL_ERROR/],
      ['sends half a GOAWAY', frame('GOAWAY', {}, number(0)), /FRAME_SIZE_ERROR/],
      ['sends invalid headers', block('80'), /COMPRESSION_ERROR/],
      [
        'sends pings for ever',
        many(2_000, frame('PING', {}, Buffer.alloc(8))),
        /too many.*ENHANCE_YOUR_CALM/,
      ],
      ['sends settings for ever', many(2_000, frame('SETTINGS')), /too many.*ENHANCE_YOUR_CALM/],
      [
        'sends acknowledgements for ever',
        many(2_000, frame('SETTINGS', { flags: ACK })),
        /ENHANCE_YOUR_CALM/,
      ],
      [
        'sends priorities for ever',
        many(2_000, frame('PRIORITY', { id: 9 }, Buffer.alloc(5))),
        /ENHANCE_YOUR_CALM/,
      ],
      ['sends unknown frames for ever', many(2_000, frame('UNKNOWN', { id: 9 })), /ENHANCE_YOUR_CALM/],
      ['sends empty data for ever', many(2_000, frame('DATA', { id: 1 })), /ENHANCE_YOUR_CALM/],
      [
        'sends empty data with padding for ever',
        many(2_000, frame('DATA', { id: 1, flags: PADDED }, '00')),
        /ENHANCE_YOUR_CALM/,
      ],
      [
        'sends frames of an ended stream for ever',
        Buffer.concat([last(1), many(2_000, frame('RST_STREAM', { id: 1 }, number(8)))]),
        /ENHANCE_YOUR_CALM/,
      ],
      [
        'grows a window byte by byte for ever',
        many(2_000, frame('WINDOW_UPDATE', {}, number(1))),
        /ENHANCE_YOUR_CALM/,
      ],
      [
        'keeps sending data on a stream that has ended',
        Buffer.concat([last(1), many(2_000, frame('DATA', { id: 1 }, '00'))]),
        /ENHANCE_YOUR_CALM/,
      ],
    ];
    for (const [what, bytes, error] of violations)
      it(what, async () => {
        const peer = await FramePeer.ready({ 4: 1_000 });
        peer.open();
        await peer.sent();
        peer.send(bytes);
        const frames = await peer.sent();
        expect(peer.events).to.have.length(2);
        expect(peer.events[1]).to.match(error);
        expect(frames.at(-1)).to.include({ type: 'GOAWAY' });
        const { length } = peer.events;
        peer.send(frame('PING', {}, Buffer.alloc(8)));
        peer.open();
        expect(await peer.sent(), 'afterwards').to.deep.equal([]);
        expect(peer.events).to.have.length(length);
      });

    it('sends more data than the window of a stream permits', async () => {
      const peer = await FramePeer.ready({}, { window: 10_000 });
      peer.open();
      peer.send(frame('DATA', { id: 1 }, Buffer.alloc(10_001)));
      expect(peer.events.at(-1)).to.match(/window of a stream \(FLOW_CONTROL_ERROR/);
    });

    it('does not speak HTTP/2', async () => {
      const peer = new FramePeer();
      peer.send(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
      expect(peer.events.join()).to.match(/FRAME_SIZE_ERROR/);
    });

    it('sends no settings first', async () => {
      const peer = new FramePeer();
      peer.send(frame('PING', {}, Buffer.alloc(8)));
      expect(peer.events.join()).to.match(/first frame.*PROTOCOL_ERROR/);
    });
  });

  it('delivers a response no matter how its bytes are divided into chunks', async () => {
    const response = Buffer.concat([
      frame('HEADERS', { id: 1, flags: END_HEADERS }, STATUS_200),
      frame('DATA', { id: 1 }, Buffer.from('one')),
      frame('DATA', { id: 1, flags: PADDED }, Buffer.from('\u0003twoxyz')),
      frame('UNKNOWN', { id: 1 }, '00'),
      frame('PRIORITY', { id: 1 }, Buffer.alloc(5)),
      frame('HEADERS', { id: 1, flags: END_STREAM | PRIORITY | PADDED }, '01 0000000000 40 05 00'),
      frame('CONTINUATION', { id: 1 }, '74 72 61 69'),
      frame('CONTINUATION', { id: 1, flags: END_HEADERS }, '6c 01 31'),
    ]);
    for (const size of [1, 2, 5, 9, 10, 64, response.length]) {
      const peer = await FramePeer.ready();
      const stream = peer.open();
      for (let at = 0; at < response.length; at += size) peer.send(response.subarray(at, at + size));
      expect(stream.events, `in pieces of ${size}`).to.deep.equal([
        ':status: 200',
        'headers',
        'one',
        'two',
        'trail: 1',
        'last headers',
        'end',
      ]);
    }
  });

  it('writes the frames of one tick at once', async () => {
    const peer = await FramePeer.ready();
    const { writes } = peer;
    for (let i = 0; i < 3; i += 1) peer.connection.send(peer.open(), Buffer.from('hello'), true);
    expect(await peer.sentAsText()).to.deep.equal([
      'HEADERS 1 4 1',
      'DATA 1 1 5',
      'HEADERS 3 4 1',
      'DATA 3 1 5',
      'HEADERS 5 4 1',
      'DATA 5 1 5',
    ]);
    expect(peer.writes - writes).to.equal(1);
  });

  it('acknowledges settings at once, and replies to a ping soon', async () => {
    const peer = await FramePeer.ready();
    peer.send(frame('SETTINGS'), frame('PING', {}, '0102030405060708'));
    const [first, second] = await peer.sent();
    expect(first).to.include({ type: 'SETTINGS', flags: ACK });
    expect(second).to.include({ type: 'PING', flags: ACK });
    expect(second!.payload.toString('hex')).to.equal('0102030405060708');
    peer.send(frame('PING', {}, '0000000000000009'));
    let frames = await peer.sent();
    while (frames.length === 0) frames = await peer.sent();
    expect(frames).to.have.length(1);
  });

  it('reports the reply to its own ping, and no other', async () => {
    const peer = await FramePeer.ready();
    peer.connection.ping();
    const [ping] = await peer.sent();
    peer.send(frame('PING', { flags: ACK }, Buffer.alloc(8)));
    expect(peer.events).to.deep.equal(['ready']);
    peer.send(frame('PING', { flags: ACK }, ping!.payload), frame('PING', { flags: ACK }, ping!.payload));
    expect(peer.events).to.deep.equal(['ready', 'pong']);
  });

  it('sends no more data than the windows permit, until the peer enlarges them', async () => {
    const peer = await FramePeer.ready({ 4: 10 });
    const [one, two] = [peer.open(), peer.open()];
    peer.connection.send(one, Buffer.alloc(25), false);
    peer.connection.send(one, Buffer.alloc(5), true);
    peer.connection.send(two, Buffer.alloc(10), true);
    expect((await peer.sentAsText()).slice(2)).to.deep.equal(['DATA 1 0 10', 'DATA 3 1 10']);
    peer.send(frame('WINDOW_UPDATE', { id: 1 }, number(16)));
    expect(await peer.sentAsText()).to.deep.equal(['DATA 1 0 15', 'DATA 1 0 1']);
    peer.send(frame('WINDOW_UPDATE', { id: 1 }, number(300)));
    expect(await peer.sentAsText()).to.deep.equal(['DATA 1 1 4']);
  });

  it('waits for the window of the connection, which all streams share', async () => {
    const peer = await FramePeer.ready({ 4: 2 ** 20 });
    const streams = [peer.open(), peer.open()];
    for (const stream of streams) peer.connection.send(stream, Buffer.alloc(40_000), true);
    const sizes = async (): Promise<number> =>
      (await peer.sent())
        .filter(({ type }) => type === 'DATA')
        .reduce((sum, { payload }) => sum + payload.length, 0);
    expect(await sizes()).to.equal(65_535);
    peer.send(frame('WINDOW_UPDATE', {}, number(4_465)));
    expect(await sizes()).to.equal(4_465);
    peer.connection.cancel(streams[1]!);
    peer.send(frame('WINDOW_UPDATE', {}, number(100_000)));
    expect(await sizes(), 'of a cancelled stream').to.equal(0);
  });

  it('follows a change of the initial window, also to a negative window', async () => {
    const peer = await FramePeer.ready({ 4: 100 });
    const stream = peer.open();
    peer.connection.send(stream, Buffer.alloc(100), false);
    peer.connection.send(stream, Buffer.alloc(50), true);
    await peer.sent();
    peer.send(frame('SETTINGS', {}, settings({ 4: 20 })));
    peer.send(frame('WINDOW_UPDATE', { id: 1 }, number(80)));
    expect(await peer.sentAsText()).to.deep.equal(['SETTINGS 0 1 0']);
    peer.send(frame('WINDOW_UPDATE', { id: 1 }, number(30)));
    expect(await peer.sentAsText()).to.deep.equal(['DATA 1 0 30']);
    peer.send(frame('SETTINGS', {}, settings({ 4: 60 })));
    expect(await peer.sentAsText()).to.deep.equal(['SETTINGS 0 1 0', 'DATA 1 1 20']);
  });

  it('splits data into frames of at most 16 kB, and long headers into several frames', async () => {
    const peer = await FramePeer.ready({ 4: 2 ** 20, 5: 2 ** 20 });
    const stream = peer.open({ ':method': 'POST', token: 't'.repeat(20_000) });
    peer.connection.send(stream, Buffer.alloc(40_000), true);
    expect(await peer.sentAsText()).to.deep.equal([
      'HEADERS 1 0 16384',
      'CONTINUATION 1 4 3628',
      'DATA 1 0 16384',
      'DATA 1 0 16384',
      'DATA 1 1 7232',
    ]);
  });

  it('permits more data when half of a window is used', async () => {
    const peer = await FramePeer.ready();
    const stream = peer.open();
    await peer.sent();
    peer.send(frame('HEADERS', { id: 1, flags: END_HEADERS }, STATUS_200));
    const part = frame('DATA', { id: 1 }, Buffer.alloc(10_000));
    for (let i = 0; i < 5; i += 1) peer.send(part);
    expect(await peer.sent()).to.deep.equal([]);
    for (let i = 0; i < 16; i += 1) peer.send(part);
    const updates = (await peer.sent()).map(({ id, payload }) => [id, payload.readUInt32BE()]);
    expect(updates).to.deep.equal([
      [1, 60_000],
      [1, 60_000],
      [1, 60_000],
      [0, 210_000],
    ]);
    expect(stream.events).to.have.length(23);
  });

  it('opens only as many streams at a time as the peer permits', async () => {
    const peer = await FramePeer.ready({ 3: 2 });
    const streams = [peer.open(), peer.open(), peer.open(), peer.open(), peer.open()];
    for (const stream of streams) peer.connection.send(stream, Buffer.from('m'), true);
    const opened = async (): Promise<number[]> =>
      (await peer.sent()).filter(({ type }) => type === 'HEADERS').map(({ id }) => id);
    expect(await opened()).to.deep.equal([1, 3]);
    peer.connection.cancel(streams[2]!);
    peer.send(last(1));
    expect(await opened()).to.deep.equal([5]);
    expect(streams[3]!.id).to.equal(5);
    peer.connection.cancel(streams[1]!);
    expect(await opened()).to.deep.equal([7]);
    peer.send(frame('SETTINGS', {}, settings({ 3: 0 })));
    peer.open();
    peer.send(last(5), last(7));
    expect(await opened()).to.deep.equal([]);
  });

  it('resets a cancelled stream before it opens a waiting one in its place', async () => {
    const peer = await FramePeer.ready({ 3: 1 });
    const streams = [peer.open(), peer.open(), peer.open()];
    await peer.sent();
    peer.connection.cancel(streams[0]!);
    expect(await peer.sentAsText(), 'after a cancellation').to.deep.equal([
      'RST_STREAM 1 0 4',
      'HEADERS 3 4 1',
    ]);
    peer.send(last(3));
    expect(await peer.sentAsText(), 'after an early end').to.deep.equal([
      'RST_STREAM 3 0 4',
      'HEADERS 5 4 1',
    ]);
  });

  it('sends nothing when it was closed before its socket is connected', async () => {
    for (const how of ['close', 'end'] as const) {
      const peer = new FramePeer({ isStarted: false });
      peer.connection.send(peer.open(), Buffer.from('m'), true);
      peer.connection[how](0);
      peer.connection.start();
      expect(await peer.sentAsText()).to.deep.equal([]);
    }
  });

  it('never sends a stream that was cancelled before the connection was made', async () => {
    const peer = new FramePeer();
    for (let i = 0; i < STREAMS_BEFORE_SETTINGS; i += 1) peer.open();
    const late = peer.open();
    peer.connection.send(late, Buffer.from('m'), true);
    peer.connection.cancel(late);
    peer.send(frame('SETTINGS'));
    expect((await peer.sent()).filter(({ type }) => type === 'HEADERS')).to.have.length(
      STREAMS_BEFORE_SETTINGS,
    );
  });

  it('accepts an empty frame after each frame with data, as Apache sends them', async () => {
    const peer = await FramePeer.ready();
    const stream = peer.open();
    for (let i = 0; i < 5_000; i += 1) peer.send(frame('DATA', { id: 1 }, '61'), frame('DATA', { id: 1 }));
    expect(peer.events).to.deep.equal(['ready']);
    expect(stream.events).to.have.length(5_000);
  });

  it('finishes only the streams that the peer accepted before its GOAWAY', async () => {
    const peer = await FramePeer.ready({ 3: 2 });
    const [first, second, waiting] = [peer.open(), peer.open(), peer.open()];
    peer.send(frame('GOAWAY', {}, Buffer.concat([number(1), number(0), Buffer.from('why')])));
    expect(peer.events).to.deep.equal(['ready', 'goaway 0']);
    expect([second.events, waiting.events]).to.deep.equal([['reset 7'], ['reset 7']]);
    peer.send(last(3), last(1));
    expect(first.events).to.deep.equal([':status: 200', 'last headers', 'end']);
    expect(second.events).to.have.length(1);
  });

  it('accepts all data of streams that the peer has refused by a GOAWAY', async () => {
    const peer = await FramePeer.ready();
    const streams = Array.from({ length: 9 }, () => peer.open());
    peer.send(frame('GOAWAY', {}, Buffer.concat([number(1), number(0)])));
    for (const { id } of streams.slice(1))
      for (let i = 0; i < 6; i += 1) peer.send(frame('DATA', { id }, Buffer.alloc(16_000)));
    peer.connection.cancel(streams[0]!);
    peer.send(frame('DATA', { id: 3 }, Buffer.alloc(4_000)), frame('DATA', { id: 1 }, Buffer.alloc(16_000)));
    expect(peer.events).to.deep.equal(['ready', 'goaway 0']);
    const rest = 28_000 + 84_000;
    for (let sent = 0; sent < rest; sent += 16_000)
      peer.send(frame('DATA', { id: 5 }, Buffer.alloc(Math.min(16_000, rest - sent))));
    expect(peer.events).to.deep.equal(['ready', 'goaway 0']);
    peer.send(...Array<Buffer>(2_000).fill(frame('DATA', { id: 5 }, '00')));
    expect(peer.events.at(-1)).to.match(/ENHANCE_YOUR_CALM/);
  });

  it('ends all streams that a GOAWAY refuses, even if the listener of one throws', async () => {
    const peer = await FramePeer.ready({ 3: 1 });
    const stream = new (class extends RecordedStream {
      override onReset(): void {
        throw new TypeError('a defect');
      }
    })({ ':method': 'POST' });
    peer.connection.open(stream);
    const others = [peer.open(), peer.open()];
    const goaway = frame('GOAWAY', {}, Buffer.concat([number(0), number(0)]));
    expect(() => peer.send(goaway)).to.throw(TypeError, 'a defect');
    expect(others.map(({ events }) => events)).to.deep.equal([['reset 7'], ['reset 7']]);
  });

  it('ends 150,000 waiting streams at a GOAWAY', async () => {
    const peer = await FramePeer.ready({ 3: 0 });
    const streams = Array.from({ length: 150_000 }, () => peer.open());
    peer.send(frame('GOAWAY', {}, Buffer.concat([number(0), number(0)])));
    expect(peer.events).to.deep.equal(['ready', 'goaway 0']);
    expect(streams.every(({ events }) => events.length === 1)).to.equal(true);
  });

  it('ignores late frames of cancelled streams, but decodes their headers', async () => {
    const peer = await FramePeer.ready();
    const [cancelled, next] = [peer.open(), peer.open()];
    peer.connection.cancel(cancelled);
    expect(await peer.sentAsText()).to.include('RST_STREAM 1 0 4');
    peer.send(
      frame('HEADERS', { id: 1, flags: END_HEADERS }, '88 40 01 61 01 62'),
      ...Array.from({ length: 6 }, () => frame('DATA', { id: 1 }, Buffer.alloc(16_000))),
      frame('WINDOW_UPDATE', { id: 1 }, number(1_000)),
      frame('RST_STREAM', { id: 1 }, number(8)),
      frame('HEADERS', { id: 3, flags: END_HEADERS | END_STREAM }, '88 be'),
    );
    expect(cancelled.events).to.deep.equal([]);
    expect(next.events).to.deep.equal([':status: 200', 'a: b', 'last headers', 'end']);
    peer.send(...Array<Buffer>(2_000).fill(frame('DATA', { id: 1 }, Buffer.alloc(16_000))));
    expect(peer.events.at(-1)).to.match(/ENHANCE_YOUR_CALM/);
  });

  it('opens ten streams before the peer has sent its limit, and the others afterwards', async () => {
    const peer = new FramePeer();
    for (let i = 0; i < 25; i += 1) peer.open();
    const opened = async (): Promise<number> =>
      (await peer.sent()).filter(({ type }) => type === 'HEADERS').length;
    expect(await opened()).to.equal(10);
    peer.send(frame('SETTINGS', {}, settings({ 3: 12 })));
    expect(await opened()).to.equal(2);
    peer.send(frame('SETTINGS', {}, settings({ 3: 100 })));
    expect(await opened()).to.equal(13);
  });

  it('resets its own side when the peer ends a stream early', async () => {
    const peer = await FramePeer.ready({ 4: 5 });
    const [open, blocked, whole] = [peer.open(), peer.open(), peer.open()];
    peer.connection.send(blocked, Buffer.alloc(6), true);
    peer.connection.send(whole, Buffer.alloc(5), true);
    await peer.sent();
    peer.send(last(1), last(3), last(5));
    expect(open.events.at(-1)).to.equal('end');
    expect(await peer.sentAsText()).to.deep.equal(['RST_STREAM 1 0 4', 'RST_STREAM 3 0 4']);
  });

  it('uses each stream id once, and reports when none is left', async () => {
    const peer = await FramePeer.ready({}, { firstId: 2 ** 31 - 3 });
    expect(peer.connection.isExhausted).to.equal(false);
    const stream = peer.open();
    expect(peer.connection.isExhausted).to.equal(false);
    const final = peer.open();
    expect([stream.id, final.id]).to.deep.equal([2 ** 31 - 3, 2 ** 31 - 1]);
    expect(peer.connection.isExhausted).to.equal(true);
    peer.send(last(2 ** 31 - 1));
    expect(final.events.at(-1)).to.equal('end');
  });

  it("announces, before the next headers, that its header table became smaller at the peer's request", async () => {
    const peer = await FramePeer.ready();
    peer.open({ ':method': 'POST', te: 'trailers' });
    peer.send(frame('SETTINGS', {}, settings({ 1: 0 })));
    peer.open({ ':method': 'POST', te: 'trailers' });
    const frames = await peer.sent();
    expect(frames.map(({ type }) => type)).to.deep.equal(['HEADERS', 'SETTINGS', 'HEADERS']);
    expect(frames[2]!.payload.toString('hex')).to.match(/^2020/);
  });

  it('accepts thousands of pings and window updates that a peer sends in reply to messages', async () => {
    const peer = await FramePeer.ready();
    for (let i = 0; i < 5_000; i += 1) {
      const stream = peer.open();
      peer.connection.send(stream, Buffer.from('m'), true);
      peer.send(frame('WINDOW_UPDATE', {}, number(7)), frame('PING', {}, Buffer.alloc(8)), last(stream.id));
    }
    expect(peer.events).to.deep.equal(['ready']);
  });

  it('accepts the responses to a burst of calls', async () => {
    const peer = await FramePeer.ready();
    const streams = Array.from({ length: 3_000 }, () => peer.open());
    peer.send(...streams.map(({ id }) => frame('HEADERS', { id, flags: END_HEADERS }, STATUS_200)));
    peer.send(...streams.map(({ id }) => last(id)));
    expect(peer.events).to.deep.equal(['ready']);
    expect(streams.every(({ events }) => events.at(-1) === 'end')).to.equal(true);
  });

  it('accepts the pings and window updates that a burst of calls causes, but not thousands of further pings', async () => {
    const peer = await FramePeer.ready();
    const streams = Array.from({ length: 1_500 }, () => peer.open());
    for (const stream of streams) peer.connection.send(stream, Buffer.from('m'), true);
    const ping = frame('PING', {}, Buffer.alloc(8));
    for (const { id } of streams) peer.send(frame('WINDOW_UPDATE', {}, number(7)), ping, last(id));
    expect(peer.events).to.deep.equal(['ready']);
    for (let i = 0; i < 6_000; i += 1) peer.send(ping);
    expect(peer.events.at(-1)).to.match(/ENHANCE_YOUR_CALM/);
  });

  it('ends all streams when its socket has closed', () => {
    const peer = new FramePeer();
    const streams = [peer.open(), peer.open()];
    expect(peer.connection.end()).to.deep.equal(streams);
    expect(streams.map(({ isOpen }) => isOpen)).to.deep.equal([false, false]);
  });

  it('ends and throws the error when a listener throws', async () => {
    const peer = await FramePeer.ready();
    const stream = new (class extends RecordedStream {
      override onData(): void {
        throw new TypeError('a defect');
      }
    })({ ':method': 'POST' });
    peer.connection.open(stream);
    expect(() => peer.send(frame('DATA', { id: 1 }, '00'))).to.throw(TypeError, 'a defect');
    expect(peer.events.at(-1)).to.equal('a defect');
  });
});
