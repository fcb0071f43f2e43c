import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants, type ServerOptions } from 'node:http2';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import type { Driver } from '../src/driver/driver.ts';
import { classify } from '../src/driver/errors.ts';
import { http2Driver } from '../src/wire/http2-driver.ts';
import { checkOptions } from '../src/api/options.ts';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { SocketLink } from '../src/wire/socket-link.ts';
import { eventually } from './clients.ts';
import { COUNT_OF_3, OddMember, only, pieces, type Reply } from './http2-server.ts';

const CALL = { withinMs: 15_000 };
const OK = { 'grpc-status': '0' };
const CALLS = 12;
const LARGE = 300_000;

/** Returns an encoded range response that contains the count 3 and an unknown field with the given number of bytes. */
function large(bytes: number): Buffer {
  const message = Buffer.concat([
    Buffer.from([0x7a, ...varint(bytes)]),
    Buffer.alloc(bytes),
    Buffer.from([0x20, 3]),
  ]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

describe('the socket transport of etcd, with an HTTP/2 server of Node', () => {
  let member: OddMember;
  let driver: Driver;
  const received: number[] = [];

  async function start(options: ServerOptions, tls?: Certificates): Promise<void> {
    received.length = 0;
    member = await OddMember.start({ ...options, ...tls?.server });
    const credentials = tls && { credentials: { rootCertificate: tls.ca } };
    driver = http2Driver(
      member.endpoint,
      checkOptions({
        hosts: member.endpoint,
        transport: 'socket',
        requestTimeoutMs: CALL.withinMs,
        ...credentials,
      }),
    );
  }
  afterEach(async () => {
    driver.close();
    await member.stop();
  });

  /** Returns a reply that the server sends only after the whole request has arrived. Adds the size of the request to `received`. */
  const after =
    (reply: Reply): Reply =>
    (stream, headers) => {
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
      stream.on('end', () => {
        received.push(bytes);
        reply(stream, headers);
      });
    };

  const servers: readonly (readonly [what: string, options: ServerOptions])[] = [
    ['with its default settings', {}],
    ['that permits windows of 1,000 bytes', { settings: { initialWindowSize: 1_000 } }],
    ['that permits two streams at a time', { settings: { maxConcurrentStreams: 2 } }],
    ['without a table of headers', { settings: { headerTableSize: 0 } }],
    ['with a table of headers of 60 bytes', { settings: { headerTableSize: 60 } }],
    ['that pads all frames', { paddingStrategy: constants.PADDING_STRATEGY_MAX }],
    ['that accepts frames of a megabyte', { settings: { maxFrameSize: 2 ** 20 } }],
    [
      'with all limits at once',
      {
        settings: { initialWindowSize: 500, maxConcurrentStreams: 3, headerTableSize: 0 },
        paddingStrategy: constants.PADDING_STRATEGY_MAX,
      },
    ],
  ];
  for (const [what, options] of servers)
    it(`exchanges large requests and replies with a server ${what}`, async () => {
      await start(options);
      const reply = large(LARGE);
      member.reply = after(
        pieces([reply.subarray(0, 3), reply.subarray(3, 100_000), reply.subarray(100_000)], OK),
      );
      const key = Buffer.alloc(LARGE);
      const counts = await Promise.all(
        Array.from({ length: CALLS }, async () => (await driver.range({ key }, CALL)).count),
      );
      expect(counts).to.deep.equal(Array(CALLS).fill('3'));
      expect(new Set(received).size, 'sizes of requests').to.equal(1);
      expect(received[0]).to.be.within(LARGE, LARGE + 20);
      expect(member.sessions).to.have.length(1);
    });

  it('exchanges large requests and replies over TLS', async function () {
    const certificates = await issueCertificates();
    if (!certificates) {
      this['skipReason'] = 'there is no openssl';
      this.skip();
    }
    await start({}, certificates);
    member.reply = after(pieces([large(LARGE)], OK));
    const key = Buffer.alloc(LARGE);
    const counts = await Promise.all(
      Array.from({ length: CALLS }, async () => (await driver.range({ key }, CALL)).count),
    );
    expect(counts).to.deep.equal(Array(CALLS).fill('3'));
    expect(received).to.have.length(CALLS);
  });

  it('reads headers and trailers that a server sends in several frames', async () => {
    await start({ maxSendHeaderBlockLength: 60_000, maxHeaderListPairs: 1_000 });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`x-${i}`, 'v'.repeat(900)]));
    member.reply = after((stream) => {
      const head = { ':status': 200, 'content-type': 'application/grpc', ...many };
      stream.respond(head, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ ...many, ...OK }));
      stream.end(COUNT_OF_3);
    });
    for (let i = 0; i < 3; i += 1) expect((await driver.range({}, CALL)).count).to.equal('3');
  });

  it('accepts informational headers before the response', async () => {
    await start({});
    member.reply = after((stream, headers) => {
      stream.additionalHeaders({ ':status': 103, link: 'x' });
      pieces([COUNT_OF_3], OK)(stream, headers);
    });
    expect((await driver.range({}, CALL)).count).to.equal('3');
  });

  it('reports that a web server does not speak HTTP/2', async () => {
    await start({});
    const web = createServer((_request, response) => response.end('a page'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const hosts = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    const lost = http2Driver(hosts, checkOptions({ hosts, transport: 'socket' }));
    const error: unknown = await lost.range({}, CALL).catch((caught: unknown) => caught);
    lost.close();
    web.close();
    expect(classify(error, { what: 'reading', host: 'h' }).message).to.match(
      /does not seem to speak HTTP\/2/,
    );
  });

  it('follows settings that a server changes between and during calls', async () => {
    await start({});
    member.reply = after(pieces([large(LARGE)], OK));
    const key = Buffer.alloc(LARGE);
    const request = async (): Promise<string> => (await driver.range({ key }, CALL)).count;
    expect(await request()).to.equal('3');
    const changes = [
      { headerTableSize: 0, initialWindowSize: 0 },
      { headerTableSize: 4_096, initialWindowSize: 10 },
      { headerTableSize: 100, initialWindowSize: 2 ** 20 },
    ];
    for (const change of changes) {
      const [before, during] = [request(), request()];
      member.sessions[0]!.settings(change);
      if (change.initialWindowSize === 0)
        await eventually('the change has arrived', () => !member.sessions[0]!.pendingSettingsAck);
      member.sessions[0]!.settings({ initialWindowSize: 2 ** 16 });
      expect(await Promise.all([before, during, request()])).to.deep.equal(['3', '3', '3']);
    }
    expect(member.sessions).to.have.length(1);
  });

  it('cancels a stream so that the server stops sending, and still exchanges data on other streams', async () => {
    await start({});
    const closed: number[] = [];
    member.reply = (stream, headers) => {
      if (headers[':path'] !== '/etcdserverpb.Watch/Watch') {
        pieces([COUNT_OF_3], OK)(stream, headers);
        return;
      }
      stream.on('close', () => closed.push(stream.rstCode));
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      const progress = Buffer.from([0, 0, 0, 0, 2, 0x10, 1]);
      const send = (): void => void (!stream.destroyed && stream.write(progress, () => setImmediate(send)));
      send();
    };
    let responses = 0;
    const watching = driver.watch({ onResponse: () => (responses += 1), onEnd: () => undefined });
    await eventually('responses', () => responses > 10);
    const other = driver.watch({ onResponse: () => undefined, onEnd: () => undefined });
    watching.close();
    const atClose = responses;
    await eventually('the server knows', () => closed.length === 1);
    expect(closed).to.deep.equal([constants.NGHTTP2_CANCEL]);
    expect(responses).to.equal(atClose);
    expect((await driver.range({}, CALL)).count).to.equal('3');
    expect(member.sessions).to.have.length(2);
    other.close();
  });
});

describe('a connection of the socket transport to an etcd member', () => {
  const CALL_HEADERS = {
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': 'h',
    ':path': '/',
  };
  let member: OddMember;
  let sockets: Socket[];
  let events: string[];
  const onSocket = (message: unknown): void =>
    void sockets.push((message as { readonly socket: Socket }).socket);

  beforeEach(async () => {
    member = await OddMember.start();
    sockets = [];
    events = [];
    subscribe('net.client.socket', onSocket);
  });
  afterEach(async () => {
    unsubscribe('net.client.socket', onSocket);
    for (const socket of sockets) socket.destroy();
    await member.stop();
  });

  function dial(): SocketLink {
    const port = Number(member.endpoint.split(':')[1]);
    return new SocketLink(
      { host: '127.0.0.1', port, authority: member.endpoint, tls: undefined },
      { connectTimeoutMs: 15_000, pingEveryMs: 6_000, pingTimeoutMs: 2_000, window: 65_535 },
      {
        onReady: () => events.push('ready'),
        onRetired: () => events.push('retired'),
        onClose: () => events.push('closed'),
      },
    );
  }

  function call(link: SocketLink, name: string, onEnd = (): void => undefined): void {
    const end = (error: Error | undefined): void => {
      events.push(`${name}: ${error?.message ?? 'success'}`);
      onEnd();
    };
    const opened = link.open(
      { headers: CALL_HEADERS, readsAtEnd: false },
      { onMessage: () => undefined, onEnd: end },
    );
    opened.end(Buffer.alloc(5));
  }

  it('ends all of its calls when its socket closes, even if listeners throw', async () => {
    const link = dial();
    await eventually('it is ready', () => events.includes('ready'));
    const fail = (): never => {
      throw new TypeError('a defect');
    };
    call(link, 'A', fail);
    call(link, 'B');
    call(link, 'C', fail);
    expect(() => sockets[0]!.emit('close'))
      .to.throw(AggregateError)
      .with.property('errors')
      .that.has.length(2);
    const closed = '14 UNAVAILABLE: the connection was closed';
    expect(events.slice(1)).to.deep.equal([
      'retired',
      `A: ${closed}`,
      `B: ${closed}`,
      `C: ${closed}`,
      'closed',
    ]);
  });

  it('accepts no more calls when no stream id is left, and closes after the last call', async () => {
    const link = dial();
    await eventually('it is ready', () => events.includes('ready'));
    member.reply = only({ 'grpc-status': 0 });
    Object.defineProperty(link.connection, 'isExhausted', { value: true });
    call(link, 'last');
    expect(link.isUsable).to.equal(false);
    await eventually('it is closed', () => events.includes('closed'));
    expect(events).to.deep.equal(['ready', 'retired', 'last: success', 'closed']);
  });
});
