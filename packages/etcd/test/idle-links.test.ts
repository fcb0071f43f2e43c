import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { Http2Link } from '../src/wire/http2-link.ts';
import type { Call, Link } from '../src/wire/link.ts';
import { SocketLink } from '../src/wire/socket-link.ts';
import { eventually } from './clients.ts';
import { OddMember } from './http2-server.ts';

const HEADERS = { ':method': 'POST', ':scheme': 'http', ':authority': 'h', ':path': '/' };
const ADDRESSES = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

/** Returns the number of timers that keep this process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
}

for (const [transport, openLink] of [
  ['http2', Http2Link],
  ['socket', SocketLink],
] as const)
  describe(`the process of a connection over the transport ${transport}`, () => {
    let sockets: Socket[];
    let events: string[];
    const onSocket = (message: unknown): void =>
      void sockets.push((message as { readonly socket: Socket }).socket);

    beforeEach(() => {
      [sockets, events] = [[], []];
      subscribe('net.client.socket', onSocket);
    });
    afterEach(() => {
      unsubscribe('net.client.socket', onSocket);
      for (const socket of sockets) socket.destroy();
    });

    function dial(host: string, port: number): Link {
      return new openLink(
        { host, port, authority: `h:${port}`, tls: undefined },
        { connectTimeoutMs: 15_000, pingEveryMs: 6_000, pingTimeoutMs: 2_000, window: 65_535 },
        {
          onReady: () => events.push('ready'),
          onRetired: () => undefined,
          onClose: () => events.push('closed'),
        },
      );
    }

    const call = (link: Link): Call =>
      link.open(
        { headers: HEADERS, readsAtEnd: false },
        { onMessage: () => undefined, onEnd: () => events.push('call ended') },
      );

    const isReferenced = (): boolean =>
      (sockets[0] as unknown as { _handle: { hasRef(): boolean } })._handle.hasRef();

    it('is kept alive only during a call, also with a host that has two addresses', async () => {
      const { lookup } = dns;
      const member = await OddMember.start();
      const duringAttempts: boolean[] = [];
      Object.assign(dns, {
        lookup: (_host: string, _options: unknown, found: (error: null, all: unknown) => void) =>
          process.nextTick(found, null, ADDRESSES),
      });
      try {
        const link = dial('two.test', Number(member.endpoint.split(':')[1]));
        const early = call(link);
        sockets[0]!.once('connectionAttempt', () => early.cancel());
        sockets[0]!.on('connectionAttempt', () => setImmediate(() => duringAttempts.push(isReferenced())));
        await eventually('it is ready', () => events.includes('ready'));
        expect(isReferenced()).to.equal(false);
        expect(duringAttempts).to.deep.equal([false, false]);
        call(link);
        expect(isReferenced()).to.equal(true);
        link.destroy();
      } finally {
        Object.assign(dns, { lookup });
        await member.stop();
      }
    });

    it('is not kept alive by the timeout of a member that accepts the socket but sends nothing', async () => {
      const accepted: Socket[] = [];
      const silent: Server = createServer((socket) => accepted.push(socket));
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const before = timers();
      const link = dial('127.0.0.1', (silent.address() as AddressInfo).port);
      const early = call(link);
      expect(timers()).to.equal(before);
      await eventually('it is accepted', () => accepted.length === 1);
      expect(isReferenced()).to.equal(true);
      early.cancel();
      await eventually('it is idle', () => !isReferenced());
      link.destroy();
      await eventually('it is closed', () => events.includes('closed'));
      silent.close();
      for (const socket of accepted) socket.destroy();
    });
  });
