import { constants } from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import type { Channel, Driver } from '../src/driver/driver.ts';
import { classify } from '../src/driver/errors.ts';
import { http2Driver } from '../src/wire/http2-driver.ts';
import { Http2Link } from '../src/wire/http2-link.ts';
import { SocketLink } from '../src/wire/socket-link.ts';
import { checkOptions, type Transport } from '../src/api/options.ts';
import { eventually } from './clients.ts';
import { COUNT_OF_3, OddMember, only, pieces, type Reply } from './http2-server.ts';

const OK = { 'grpc-status': '0' };
const AT_ONCE = { withinMs: 15_000 };

const TRANSPORTS = [
  { transport: 'http2', name: 'HTTP/2 transport', Link: Http2Link },
  { transport: 'socket', name: 'socket transport', Link: SocketLink },
] as const;

const driverOver = (transport: Transport, host: string): Driver =>
  http2Driver(host, checkOptions({ hosts: host, transport, requestTimeoutMs: AT_ONCE.withinMs }));
const bytesOf = (message: Buffer): Buffer[] => Array.from(message, (byte) => Buffer.from([byte]));
const counting = (count: number): Buffer => Buffer.from([0, 0, 0, 0, 2, 0x20, count]);

for (const { transport, name, Link } of TRANSPORTS) {
  describe(`the transport of an etcd client with a misbehaving member (${name})`, () => {
    const driverOf = (host: string): Driver => driverOver(transport, host);

    let member: OddMember;
    let driver: Driver;

    before(async () => {
      member = await OddMember.start();
    });
    after(() => member.stop());
    beforeEach(() => {
      driver = driverOf(member.endpoint);
      member.sessions.length = 0;
      member.calls = 0;
    });
    afterEach(() => {
      driver.close();
    });

    const count = async (withinMs = AT_ONCE.withinMs): Promise<string> =>
      (await driver.range({}, { withinMs })).count;

    async function failure(withinMs?: number): Promise<string> {
      const reported: unknown = await count(withinMs).catch((error: unknown) => error);
      return reported instanceof Error ? reported.message : `no failure: ${String(reported)}`;
    }

    function watch(): { counts: string[]; ends: unknown[]; channel: Channel<object> } {
      const [counts, ends]: [string[], unknown[]] = [[], []];
      const channel = driver.watch({
        onResponse: ({ watch_id }) => counts.push(watch_id),
        onEnd: (error) => ends.push(error),
      });
      return { counts, ends, channel };
    }

    const message = (id: number): Buffer => Buffer.from([0, 0, 0, 0, 2, 0x10, id]);

    it('assembles a reply from single bytes', async () => {
      member.reply = pieces(bytesOf(COUNT_OF_3), OK);
      expect(await count()).to.equal('3');
    });

    it('parses several messages from one chunk, and one message from several chunks', async () => {
      const [first, second] = [message(5), message(6)];
      member.reply = pieces(
        [
          Buffer.concat([message(3), message(4), first.subarray(0, 3)]),
          Buffer.concat([first.subarray(3), second]),
        ],
        OK,
      );
      const { counts, ends } = watch();
      await eventually('the stream has ended', () => ends.length > 0);
      expect(counts).to.deep.equal(['3', '4', '5', '6']);
      expect(String(ends[0])).to.include('the server ended the stream');
    });

    it('accepts a reply that is only a status, and decodes the status text', async () => {
      member.reply = only({ 'grpc-status': 8, 'grpc-message': 'etcdserver%3A no%20sp%C3%A4ce' });
      expect(await failure()).to.equal('8 RESOURCE_EXHAUSTED: etcdserver: no späce');
      member.reply = only({ 'grpc-status': 14, 'grpc-message': '100 % wrong' });
      expect(await failure()).to.equal('14 UNAVAILABLE: 100 % wrong');
      expect(member.sessions, 'which is no fault of the connection').to.have.length(1);
    });

    const oddities: readonly (readonly [title: string, answer: Reply, message: RegExp])[] = [
      ['a compressed reply', pieces([Buffer.from([1, 0, 0, 0, 0])], OK), /^13 INTERNAL: .*compressed/],
      [
        'a message of 4 GiB',
        pieces([Buffer.from([0, 255, 255, 255, 255])], OK),
        /^13 INTERNAL: .*at most 268435456 are read/,
      ],
      ['an incomplete reply', pieces([COUNT_OF_3.subarray(0, 6)], OK), /^13 INTERNAL: .*incomplete/],
      ['a missing message without an error', pieces([], OK), /^13 INTERNAL: .*0 messages/],
      ['two messages', pieces([COUNT_OF_3, COUNT_OF_3], OK), /^13 INTERNAL: .*2 messages/],
      [
        'bytes that are not a message',
        pieces([Buffer.from([0, 0, 0, 0, 1, 0x0a])], OK),
        /^13 INTERNAL: invalid response/,
      ],
      ['an end without a status', (stream) => stream.end('hello'), /^2 UNKNOWN: .*without a gRPC status/],
      ['an error page of a proxy', only({ ':status': 503 }), /^14 UNAVAILABLE: .*503/],
      ['an invalid status', only({ 'grpc-status': 'good' }), /^2 UNKNOWN/],
      [
        'a reset',
        (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
        /^14 UNAVAILABLE: .*reset the call/,
      ],
      ['a broken connection', (stream) => stream.session?.destroy(), /^14 UNAVAILABLE/],
    ];
    for (const [title, reply, text] of oddities) {
      // Sends two kinds of requests: a range, whose response is read while it arrives, and a transaction, whose
      // response is read at its end.
      it(`reports the outcome as unknown for ${title}`, async () => {
        for (const request of [count, () => driver.txn({}, AT_ONCE)]) {
          member.reply = reply;
          const error: unknown = await request().catch((caught: unknown) => caught);
          expect(error).to.be.an('error').with.property('message').that.matches(text);
          expect(classify(error, { what: 'counting', host: 'h' }).code).to.equal('UNAVAILABLE');
          member.reply = pieces([COUNT_OF_3], OK);
          expect(await count()).to.equal('3');
        }
      });
    }

    const refuse: Reply = (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM);
    /** Returns a reply that refuses the first `times` calls, and counts 3 for all later ones. */
    const refuseFirst = (times: number): Reply => {
      return (stream, headers) =>
        member.calls <= times ? refuse(stream, headers) : pieces([COUNT_OF_3], OK)(stream, headers);
    };

    it('sends a request again that the member refused, on the same connection', async () => {
      member.reply = refuseFirst(2);
      expect(await count()).to.equal('3');
      expect([member.calls, member.sessions.length]).to.deep.equal([3, 1]);
    });

    it('reports a request that the member refused three times, and sends the next one on another connection', async () => {
      member.reply = refuseFirst(3);
      expect(await failure()).to.equal('14 UNAVAILABLE: the member reset the call (7)');
      expect(member.calls).to.equal(3);
      expect(await count()).to.equal('3');
      expect(member.sessions).to.have.length(2);
    });

    it('times out when the refusal arrives late, and counts the time limit from the first request', async () => {
      const late: (() => void)[] = [];
      member.reply = (stream, headers) => void late.push(() => refuse(stream, headers));
      const from = performance.now();
      const failed = failure(400);
      for (const times of [1, 2]) {
        await eventually('the request has arrived', () => late.length === times);
        if (times === 1) late[0]!();
      }
      expect(await failed).to.equal('4 DEADLINE_EXCEEDED: no response within 400 ms');
      expect(livedSince(from)).to.be.lessThan(800);
    });

    it('sends requests again that a GOAWAY refused, on another connection', async () => {
      member.reply = pieces([COUNT_OF_3], OK);
      await count();
      const { length: before } = member.sessions;
      const session = member.sessions[0]!;
      member.reply = () => undefined;
      const counts = [count(), count(), count()];
      await eventually('the requests have arrived', () => member.calls === 4);
      member.reply = pieces([COUNT_OF_3], OK);
      session.goaway(constants.NGHTTP2_NO_ERROR, 1);
      expect(await Promise.all(counts)).to.deep.equal(['3', '3', '3']);
      expect(member.sessions.length - before).to.equal(1);
    });

    it('opens a stream again that the member refused, with all requests that were written', async () => {
      const received: Buffer[] = [];
      member.reply = (stream, headers) => {
        if (member.calls <= 2) refuse(stream, headers);
        else {
          stream.on('data', (part: Buffer) => received.push(part));
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
          stream.write(message(7));
        }
      };
      const { counts, ends, channel } = watch();
      channel.write({ create_request: { key: Buffer.from('first') } });
      await eventually('the stream was opened again', () => counts.length === 1);
      channel.write({ create_request: { key: Buffer.from('second') } });
      await eventually('both requests', () => Buffer.concat(received).includes('second'));
      expect(
        Buffer.concat(received)
          .toString('latin1')
          .match(/first|second/g),
      ).to.deep.equal(['first', 'second']);
      expect([ends, member.sessions.length]).to.deep.equal([[], 1]);
      channel.close();
    });

    it('ends a stream that the member refused three times', async () => {
      member.reply = refuse;
      const { ends } = watch();
      await eventually('the stream has ended', () => ends.length === 1);
      expect(String(ends[0])).to.include('the member reset the call (7)');
      expect(member.calls).to.equal(3);
    });

    describe('when a call reads its response only after the last byte', () => {
      const withinMs = 800;
      let hasty: Driver;

      beforeEach(() => {
        hasty = http2Driver(
          member.endpoint,
          checkOptions({ hosts: member.endpoint, transport, requestTimeoutMs: withinMs }),
        );
      });
      afterEach(() => {
        hasty.close();
      });

      it('delivers a response that is larger than the window of the connection', async () => {
        const unused = Buffer.alloc(9 * 2 ** 20);
        // A valid response: a field of 9 MB that no transaction has, and after it the field `succeeded`.
        const body = Buffer.concat([
          Buffer.from([0x7a, 0x80, 0x80, 0xc0, 0x04]),
          unused,
          Buffer.from([0x10, 1]),
        ]);
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(body.length, 1);
        member.reply = pieces([prefix, body], OK);
        expect(await hasty.txn({}, { withinMs })).to.include({ succeeded: true });
      });

      it('reports an unknown outcome at once when the response has no gRPC status', async () => {
        member.reply = (stream) => {
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
          stream.end(COUNT_OF_3);
        };
        const error: unknown = await hasty.txn({}, { withinMs }).catch((caught: unknown) => caught);
        expect(error)
          .to.be.an('error')
          .with.property('message')
          .that.matches(/^2 UNKNOWN: .*without a gRPC status/);
      });
    });

    it('opens another connection after a call has timed out without a reply', async () => {
      member.reply = () => undefined;
      const started = performance.now();
      expect(await failure(100)).to.equal('4 DEADLINE_EXCEEDED: no response within 100 ms');
      expect(performance.now() - started).to.be.at.least(95);
      expect(livedSince(started)).to.be.lessThan(1_000);
      member.reply = pieces([COUNT_OF_3], OK);
      await count();
      await count();
      expect(member.sessions).to.have.length(2);
      await eventually('the first connection is gone', () => member.sessions[0]!.destroyed);
    });

    it('lets calls in flight finish when the member announces its shutdown, and sends later calls on another connection', async () => {
      let late = (): void => undefined;
      member.reply = (stream, headers) => {
        late = () => pieces([COUNT_OF_3], OK)(stream, headers);
      };
      const under = count();
      await eventually('it has come', () => member.calls === 1);
      member.sessions[0]!.goaway();
      member.reply = pieces([counting(4)], OK);
      await eventually('a call goes elsewhere', async () => {
        expect(await count()).to.equal('4');
        return member.sessions.length === 2;
      });
      late();
      expect(await under).to.equal('3');
    });

    it('sends messages that were written while it connects, in order', async () => {
      const came: Buffer[] = [];
      member.reply = (stream) => {
        stream.on('data', (piece: Buffer) => came.push(piece));
      };
      const { channel } = watch();
      for (const watch_id of ['1', '2', '3']) channel.write({ cancel_request: { watch_id } });
      const frame = (id: number): Buffer => Buffer.from([0, 0, 0, 0, 4, 0x12, 2, 8, id]);
      await eventually('all have come', () => Buffer.concat(came).length === 27);
      expect(Buffer.concat(came)).to.deep.equal(Buffer.concat([frame(1), frame(2), frame(3)]));
      channel.close();
    });

    it('uses one connection for all streams, and one for all other calls', async () => {
      member.reply = (stream, headers) => {
        if (headers[':path'] !== '/etcdserverpb.Watch/Watch') pieces([COUNT_OF_3], OK)(stream, headers);
      };
      const streams = [watch(), watch()];
      await Promise.all([count(), count(), count()]);
      await eventually('all have come', () => member.calls === 5);
      expect(member.sessions).to.have.length(2);
      for (const { channel } of streams) channel.close();
    });

    it('reports no error when a caller abandons a stream to get another connection', async () => {
      const [first, second] = [watch(), watch()];
      await eventually('both have come', () => member.calls === 2);
      first.channel.abandon();
      const third = watch();
      await eventually('it has come', () => member.calls === 3);
      expect(member.sessions).to.have.length(2);
      expect([first.ends, second.ends, third.ends]).to.deep.equal([[], [], []]);
    });

    it('ends all calls in flight when it is closed, and refuses later ones', async () => {
      member.reply = () => undefined;
      const { ends } = watch();
      const requested = failure();
      await eventually('both have come', () => member.calls === 2);
      driver.close();
      expect(await requested).to.include('the client was already closed');
      await eventually('the stream is notified', () => ends.length === 1);
      expect(classify(ends[0], { what: 'watching', host: 'h' }).code).to.equal('CLOSED');
      expect(await failure()).to.include('the client was already closed');
      await eventually('the connections are gone', () => member.sessions.every(({ destroyed }) => destroyed));
    });
  });

  describe(`a connection of an etcd client's transport (${name})`, () => {
    const driverOf = (host: string): Driver => driverOver(transport, host);

    it('ends when its pings get no reply while a call is open, and only then', async () => {
      const member = await OddMember.start();
      const [host = '', port] = member.endpoint.split(':');
      const deaf = createServer((client) => {
        const server = connect(Number(port), host);
        client.pipe(server);
        server.pipe(client);
        sockets.push(client, server);
      });
      const sockets: Socket[] = [];
      await new Promise<void>((resolve) => deaf.listen(0, host, resolve));
      let isOver = false;
      let isReady = false;
      const address = { host, port: (deaf.address() as AddressInfo).port, authority: 'h', tls: undefined };
      const link = new Link(
        address,
        { connectTimeoutMs: 15_000, pingEveryMs: 50, pingTimeoutMs: 100, window: 65_535 },
        {
          onReady: () => (isReady = true),
          onRetired: () => undefined,
          onClose: () => (isOver = true),
        },
      );
      await eventually('it is ready', () => isReady);
      for (const socket of sockets) socket.pause();
      const idle = performance.now();
      await eventually('pings would have been missed', () => performance.now() - idle > 500);
      expect(isOver, 'without a call').to.equal(false);
      const call = { headers: { ':method': 'POST', ':path': '/' }, readsAtEnd: false };
      link.open(call, { onMessage: () => undefined, onEnd: () => undefined });
      await eventually('it is over', () => isOver);
      expect(link.failure.message).to.equal('no response to a ping within 100 ms');
      for (const socket of sockets) socket.destroy();
      deaf.close();
      await member.stop();
    });

    it('has no call refused when a burst of calls is first to reach a server that permits ten streams', async () => {
      const member = await OddMember.start({ settings: { maxConcurrentStreams: 10 } });
      const driver = driverOf(member.endpoint);
      member.reply = pieces([COUNT_OF_3], OK);
      try {
        const calls = Array.from({ length: 300 }, async () => (await driver.range({}, AT_ONCE)).count);
        expect(await Promise.all(calls)).to.deep.equal(Array(300).fill('3'));
        expect(member.sessions).to.have.length(1);
      } finally {
        driver.close();
        await member.stop();
      }
    });

    it('continues to connect after the first call has timed out', async () => {
      const member = await OddMember.start();
      member.reply = pieces([COUNT_OF_3], OK);
      const [host = '', port] = member.endpoint.split(':');
      let dials = 0;
      let mayReach = (): void => undefined;
      const isGivenUp = new Promise<void>((resolve) => (mayReach = resolve));
      const far = createServer((client) => {
        dials += 1;
        void isGivenUp.then(() => {
          const server = connect(Number(port), host);
          client.pipe(server).on('error', () => undefined);
          server.pipe(client).on('error', () => undefined);
        });
      });
      await new Promise<void>((resolve) => far.listen(0, host, resolve));
      const hosts = `${host}:${(far.address() as AddressInfo).port}`;
      const driver = driverOf(hosts);
      const tooSoon = await driver.range({}, { withinMs: 100 }).catch(String);
      expect(tooSoon).to.include('DEADLINE_EXCEEDED');
      mayReach();
      expect((await driver.range({}, AT_ONCE)).count).to.equal('3');
      expect(dials).to.equal(1);
      driver.close();
      far.close();
      await member.stop();
    });

    it('is opened again without a delay after a loss, and with a backoff after a failed attempt', async () => {
      let dials = 0;
      const server = createServer((socket) => {
        dials += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const driver = driverOf(host);
      const started = performance.now();
      let failures = 0;
      while (failures <= 100 || dials < 2) {
        await driver.range({}, AT_ONCE).catch(() => (failures += 1));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(dials).to.be.at.most(2 + (performance.now() - started) / 50);
      driver.close();
      server.close();
    });
  });
}
