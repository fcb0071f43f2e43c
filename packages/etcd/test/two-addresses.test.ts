import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns from 'node:dns';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { Http2Link } from '../src/wire/http2-link.ts';
import type { Call, Link } from '../src/wire/link.ts';
import { SocketLink } from '../src/wire/socket-link.ts';
import { eventually } from './clients.ts';
import { OddMember } from './http2-server.ts';

const OPTIONS = { connectTimeoutMs: 15_000, pingEveryMs: 6_000, pingTimeoutMs: 2_000, window: 65_535 };
const HEADERS = { ':method': 'POST', ':scheme': 'http', ':authority': 'two.test', ':path': '/' };
const REQUEST = { headers: HEADERS, readsAtEnd: false };
/** The member listens only on the second address, so each connection takes two attempts. */
const ADDRESSES = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

for (const { name, TestedLink } of [
  { name: 'HTTP/2 transport', TestedLink: Http2Link },
  { name: 'socket transport', TestedLink: SocketLink },
]) {
  describe(`a connection to an etcd member whose host has two addresses (${name})`, () => {
    const { lookup } = dns;
    const onSocket = (message: unknown): void => {
      socket ??= (message as { readonly socket: Socket }).socket;
    };
    let socket: Socket | undefined;
    let member: OddMember;
    let isReady: boolean;

    before(async () => {
      member = await OddMember.start();
      member.reply = () => undefined;
    });
    after(() => member.stop());
    beforeEach(() => {
      isReady = false;
      socket = undefined;
      subscribe('net.client.socket', onSocket);
      Object.assign(dns, {
        lookup: (_host: string, _options: unknown, found: (error: null, all: unknown) => void) =>
          process.nextTick(found, null, ADDRESSES),
      });
    });
    afterEach(() => {
      unsubscribe('net.client.socket', onSocket);
      Object.assign(dns, { lookup });
    });

    function open(): Link {
      const port = Number(member.endpoint.split(':')[1]);
      const address = { host: 'two.test', port, authority: 'two.test', tls: undefined };
      return new TestedLink(address, OPTIONS, {
        onReady: () => (isReady = true),
        onRetired: () => undefined,
        onClose: () => undefined,
      });
    }

    const call = (link: Link): Call =>
      link.open(REQUEST, { onMessage: () => undefined, onEnd: () => undefined });

    /** Whether the socket keeps the process alive. */
    const isReferenced = (): boolean =>
      (socket as unknown as { _handle: { hasRef(): boolean } })._handle.hasRef();

    it('does not keep the process alive after its only call was cancelled during the first attempt', async () => {
      const link = open();
      const attempts: boolean[] = [];
      const cancelled = call(link);
      socket!.on('connectionAttempt', () => attempts.push(isReferenced()));
      cancelled.cancel();
      await eventually('it is ready', () => isReady);
      expect(attempts).to.have.length(2);
      expect(attempts[1]).to.equal(false);
      expect(isReferenced()).to.equal(false);
      link.destroy();
    });

    it('keeps the process alive for a call that was opened during the second attempt', async () => {
      const link = open();
      const attempts: boolean[] = [];
      call(link).cancel();
      socket!.on('connectionAttempt', () => {
        attempts.push(isReferenced());
        if (attempts.length === 2) call(link);
      });
      await eventually('it is ready', () => isReady);
      expect(attempts).to.have.length(2);
      expect(isReferenced()).to.equal(true);
      link.destroy();
    });
  });
}
