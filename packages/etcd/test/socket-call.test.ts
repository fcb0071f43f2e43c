import { expect } from 'chai';
import { MAX_MESSAGE_BYTES } from '../src/wire/grpc-messages.ts';
import { MessageBuffer } from '../src/wire/message-buffer.ts';
import { RefusedCall } from '../src/wire/call-errors.ts';
import { SocketCall } from '../src/wire/socket-call.ts';
import { FramePeer, frame } from './frame-peer.ts';

const END_STREAM = 1;
const END_HEADERS = 4;

/** Returns a block of the given headers in HPACK, as literals, which neither use nor change the table. */
function block(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer[] => [Buffer.from([value.length]), Buffer.from(value)];
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), ...text(name), ...text(value)]),
  );
}

const headers = (fields: Readonly<Record<string, string>>, flags = END_HEADERS): Buffer =>
  frame('HEADERS', { id: 1, flags }, block(fields));
const trailers = (fields: Readonly<Record<string, string>>): Buffer =>
  headers(fields, END_HEADERS | END_STREAM);
/** Returns a frame of trailers that consists of two blocks of headers, so that a name may occur twice. */
const twice = (first: Readonly<Record<string, string>>, second: Readonly<Record<string, string>>): Buffer =>
  frame('HEADERS', { id: 1, flags: END_HEADERS | END_STREAM }, Buffer.concat([block(first), block(second)]));
const data = (hex: string): Buffer => frame('DATA', { id: 1 }, hex);

const GRPC = { ':status': '200', 'content-type': 'application/grpc+proto' };
const OK = { 'grpc-status': '0' };
const INVALID = { 'grpc-status': '3' };

interface TestCall {
  readonly peer: FramePeer;
  readonly call: SocketCall;
  readonly events: unknown[];
  /** The errors with which the call has ended. */
  readonly errors: unknown[];
}

async function open(onMessage = (): void => undefined): Promise<TestCall> {
  const peer = await FramePeer.ready();
  const [events, errors]: [unknown[], unknown[]] = [[], []];
  const link = {
    connection: peer.connection,
    isMade: true,
    isOver: false,
    failure: new Error('closed'),
    closed: () => events.push('closed'),
    retire: () => events.push('retired'),
  };
  const call = new SocketCall(
    link,
    { ':method': 'POST' },
    {
      onMessage: (message) => {
        events.push(message.toString('hex'));
        onMessage();
      },
      onEnd: (error) => {
        errors.push(error);
        events.push(error?.message ?? 'success');
      },
    },
  );
  return { peer, call, events, errors };
}

describe('a call of the transport socket', () => {
  it('delivers each message however its bytes are divided into chunks, and then reports success', async () => {
    const { peer, events } = await open();
    peer.send(headers(GRPC), data('0000000001aa'), data('00000000'), data('02bbbb0000000000'), data('0000'));
    expect(events).to.deep.equal(['aa', 'bbbb', '']);
    peer.send(data('000001cc'), trailers(OK));
    expect(events).to.deep.equal(['aa', 'bbbb', '', 'cc', 'closed', 'success']);
  });

  it('reports the status and the decoded message of trailers, and of headers without a body', async () => {
    const failed = { 'grpc-status': '5', 'grpc-message': 'no%20such%20%C3%A4' };
    const [first, second] = [await open(), await open()];
    first.peer.send(headers(GRPC), trailers(failed));
    second.peer.send(trailers({ ...GRPC, ...failed }));
    for (const { events } of [first, second])
      expect(events).to.deep.equal(['closed', '5 NOT_FOUND: no such ä']);
  });

  it('reports a refusal, and fails only if the member had begun to reply', async () => {
    const refusal = frame('RST_STREAM', { id: 1 }, '00000007');
    const [refused, begun] = [await open(), await open()];
    refused.peer.send(refusal);
    expect(refused.errors)
      .to.have.length(1)
      .and.satisfy(([error]: unknown[]) => error instanceof RefusedCall);
    expect(refused.events).to.deep.equal(['closed', '14 UNAVAILABLE: the member reset the call (7)']);
    begun.peer.send(headers(GRPC), refusal);
    expect(begun.errors[0]).to.not.be.instanceOf(RefusedCall);
    expect(begun.events).to.deep.equal([
      'closed',
      'retired',
      '14 UNAVAILABLE: the member reset the call (7)',
    ]);
  });

  const invalid: readonly (readonly [what: string, bytes: readonly Buffer[], error: RegExp])[] = [
    ['headers without an HTTP status', [headers({ 'content-type': 'application/grpc' })], /without a status/],
    ['a status after other headers', [headers({ 'x-a': '1', ':status': '200' })], /status after/],
    ['an HTTP status that is no number', [headers({ ':status': 'fine' })], /HTTP status "fine"/],
    ['a name in upper case', [headers({ ...GRPC, 'X-A': '1' })], /"X-A"/],
    ['an unknown pseudo-header', [headers({ ...GRPC, ':path': '/' })], /":path"/],
    ['a header of a connection', [headers({ ...GRPC, connection: 'close' })], /"connection"/],
    ['data before the headers', [data('00')], /before the headers/],
    ['a status in trailers', [headers(GRPC), trailers({ ':status': '200' })], /status after/],
    ['two gRPC statuses', [headers(GRPC), twice(OK, INVALID)], /two gRPC statuses/],
    ['informational headers that end it', [trailers({ ':status': '103', ...INVALID })], /that end the resp/],
    ['trailers before the end', [headers(GRPC), headers(OK)], /trailers before the end/],
    ['a compressed message', [headers(GRPC), data('0100000000')], /compressed/],
    ['a message of more than 256 MiB', [headers(GRPC), data('0010000001aa')], /268435457 bytes/],
  ];
  for (const [what, bytes, error] of invalid)
    it(`ends with an error, and resets the stream, after ${what}`, async () => {
      const { peer, events } = await open();
      peer.send(...bytes);
      expect(events.slice(0, 2)).to.deep.equal(['closed', 'retired']);
      expect(events[2])
        .to.match(error)
        .and.to.match(/^13 INTERNAL: invalid response/);
      expect(events).to.have.length(3);
      expect(await peer.sentAsText()).to.include('RST_STREAM 1 0 4');
      peer.send(trailers(OK));
      expect(events).to.have.length(3);
      expect(peer.events, 'of the connection').to.deep.equal(['ready']);
    });

  it('reports an unknown status if the gRPC status is no positive number', async () => {
    for (const status of ['', '00', '+1', '0x5', '1e0', '-1', 'five']) {
      const { peer, events } = await open();
      peer.send(headers(GRPC), trailers({ 'grpc-status': status, 'grpc-message': 'why' }));
      expect(events, JSON.stringify(status)).to.deep.equal(['closed', '2 UNKNOWN: why']);
    }
    const { peer, events } = await open();
    peer.send(headers(GRPC), trailers({ 'grpc-status': '99', 'grpc-message': '%' }));
    expect(events).to.deep.equal(['closed', '99 UNKNOWN: %']);
  });

  const HINT = { ':status': '103', 'content-type': 'application/grpc' };
  const GARBAGE = Buffer.from([0x80]);
  const without: readonly (readonly [what: string, bytes: readonly Buffer[], error: RegExp])[] = [
    [
      'an error status in informational headers',
      [headers({ ...HINT, ...INVALID }), headers(GRPC), trailers({ 'x-a': '1' })],
      /^2 UNKNOWN: .*without a gRPC status/,
    ],
    [
      'a success in informational headers',
      [headers({ ...HINT, ...OK }), headers(GRPC), data('0000000001aa'), trailers({})],
      /^2 UNKNOWN: .*without a gRPC status/,
    ],
    [
      'an error status in informational headers before a reset',
      [headers({ ...HINT, ...INVALID }), frame('RST_STREAM', { id: 1 }, '00000008')],
      /^14 UNAVAILABLE: .*reset the call/,
    ],
    [
      'a success in headers, and trailers without a status',
      [headers({ ...GRPC, ...OK }), data('0000000001aa'), trailers({ 'x-a': '1' })],
      /^2 UNKNOWN: .*without a gRPC status/,
    ],
    [
      'an error status in headers, and trailers without a status',
      [headers({ ...GRPC, ...INVALID }), trailers({ 'x-a': '1' })],
      /^2 UNKNOWN: .*without a gRPC status/,
    ],
    [
      'the type of informational headers, and final headers without a type',
      [headers(HINT), headers({ ':status': '200' }), trailers({})],
      /^2 UNKNOWN: the member responded with nothing/,
    ],
  ];
  for (const [what, bytes, error] of without)
    it(`reports an unknown outcome after ${what}`, async () => {
      const { peer, events } = await open();
      peer.send(...bytes);
      expect(events.at(-1)).to.match(error);
      expect(events).to.include('retired');
    });

  it('ignores a gRPC status in a block of headers that ends with invalid bytes', async () => {
    for (const status of [OK, INVALID]) {
      const { peer, call, events } = await open();
      const bytes = Buffer.concat([block(status), GARBAGE]);
      peer.send(headers(GRPC), frame('HEADERS', { id: 1, flags: END_HEADERS | END_STREAM }, bytes));
      expect(peer.events.at(-1)).to.match(/COMPRESSION_ERROR/);
      // Resets the stream, as the end of the socket does.
      call.onReset(8);
      expect(events.at(-1)).to.match(/^14 UNAVAILABLE/);
    }
  });

  it('throws the error of a listener, also when messages were buffered', async () => {
    for (const parts of [[data('0000000001aa')], [data('0000'), data('000001aa')]]) {
      const { peer, events } = await open(() => {
        throw new TypeError('a defect');
      });
      peer.send(headers(GRPC));
      expect(() => peer.send(...parts)).to.throw(TypeError, 'a defect');
      expect(events).to.deep.equal(['aa']);
      expect(peer.events).to.deep.equal(['ready', 'a defect']);
    }
  });

  it('ends with an error when a status of success follows an incomplete message', async () => {
    const { peer, events } = await open();
    peer.send(headers(GRPC), data('0000000002aa'), trailers(OK));
    expect(events).to.deep.equal(['closed', 'retired', '13 INTERNAL: invalid response: it is incomplete']);
  });

  it('ignores the body of a response that is a web page, and reports its HTTP status', async () => {
    const { peer, events } = await open();
    peer.send(headers({ ':status': '502', 'content-type': 'text/html' }), data('3c68746d6c3e'));
    peer.send(frame('DATA', { id: 1, flags: END_STREAM }, '00'));
    expect(events.at(-1)).to.equal('14 UNAVAILABLE: the member responded with HTTP status 502');
  });

  it('delivers nothing to its caller after it was cancelled, and resets the stream once', async () => {
    const { peer, call, events } = await open();
    call.cancel();
    call.cancel();
    call.fail(new Error('too late'));
    call.write(Buffer.from('late'));
    peer.send(headers(GRPC), data('0000000001aa'), trailers(OK));
    expect(events).to.deep.equal(['closed']);
    expect(await peer.sentAsText()).to.deep.equal(['HEADERS 1 4 1', 'RST_STREAM 1 0 4']);
  });

  it('ends the connection of a peer that sends informational headers for ever', async () => {
    const { peer } = await open();
    const hint = headers({ ':status': '103' });
    peer.send(...Array<Buffer>(2_500).fill(hint));
    expect(peer.events.at(-1)).to.match(/ENHANCE_YOUR_CALM/);
  });
});

describe('the buffer of messages', () => {
  it('grows with the bytes that have arrived, not with the length that the prefix of a message announces', () => {
    const buffer = new MessageBuffer();
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(MAX_MESSAGE_BYTES, 1);
    const before = process.memoryUsage().arrayBuffers;
    buffer.push(prefix);
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(2 ** 20);
    expect(buffer.isHalf).to.equal(true);
  });

  it('joins the many parts of a large message, and returns the small message behind it', () => {
    const buffer = new MessageBuffer();
    const messages: Buffer[] = [];
    const large = Buffer.alloc(100_000, 'abc');
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(large.length, 1);
    const all = Buffer.concat([prefix, large, Buffer.from('0000000001dd00', 'hex')]);
    for (let at = 0; at < all.length; at += 777) messages.push(...buffer.push(all.subarray(at, at + 777)));
    expect(messages.map(({ length }) => length)).to.deep.equal([100_000, 1]);
    expect(messages[0]!.equals(large)).to.equal(true);
    expect(buffer.isHalf).to.equal(true);
  });
});
