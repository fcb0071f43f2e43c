import dns from 'node:dns';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Driver } from '../src/driver/driver.ts';
import { checkOptions } from '../src/api/options.ts';
import { AddressOrder } from '../src/wire/address-order.ts';
import { http2Driver } from '../src/wire/http2-driver.ts';
import { COUNT_OF_3, OddMember, pieces } from './http2-server.ts';

const CALL = { withinMs: 10_000 };
const NAME = 'two.test';
const WRONG = '127.0.0.2';
const { lookup } = dns;

/** Makes `dns.lookup` return these addresses for the host name `two.test`, in this order. Other hosts are not affected. */
function resolveTo(...addresses: readonly string[]): void {
  const all = addresses.map((address) => ({ address, family: 4 }));
  const resolve = (...args: [string, dns.LookupAllOptions, (error: null, all: unknown) => void]): void => {
    if (args[0] === NAME) process.nextTick(args[2], null, all);
    else Reflect.apply(lookup, dns, args);
  };
  Object.assign(dns, { lookup: resolve });
}

for (const transport of ['http2', 'socket'] as const)
  describe(`a host name with several addresses, over the transport ${transport} of etcd`, () => {
    let member: OddMember;
    let wrong: Server;
    let accepted: Socket[];
    let driver: Driver;

    /** Starts a server at the first address of the host, and a client. */
    async function start(onSocket: (socket: Socket) => void): Promise<void> {
      const port = Number(member.endpoint.split(':')[1]);
      wrong = createServer((socket) => {
        accepted.push(socket.on('error', () => undefined));
        onSocket(socket);
      });
      await new Promise<void>((resolve) => wrong.listen(port, WRONG, resolve));
      const hosts = `${NAME}:${port}`;
      driver = http2Driver(hosts, checkOptions({ hosts, transport, requestTimeoutMs: 300 }));
    }

    beforeEach(async () => {
      accepted = [];
      member = await OddMember.start();
      member.reply = pieces([COUNT_OF_3], { 'grpc-status': '0' });
      resolveTo(WRONG, '127.0.0.1');
    });
    afterEach(async () => {
      Object.assign(dns, { lookup });
      driver.close();
      for (const socket of accepted) socket.destroy();
      wrong.close();
      await member.stop();
    });

    const outcome = (): Promise<string> => driver.range({}, CALL).then(({ count }) => count, String);

    it('is connected at its second address after the server at the first has closed a connection at once', async () => {
      await start((socket) => socket.destroy());
      expect(await outcome()).to.match(/UNAVAILABLE/);
      expect(await outcome()).to.equal('3');
      expect(accepted).to.have.length(1);
    });

    it('is connected at its second address after the server at the first has accepted a socket and sent nothing', async () => {
      await start(() => undefined);
      expect(await outcome()).to.match(/no connection within 300 ms/);
      expect(await outcome()).to.equal('3');
      expect(accepted).to.have.length(1);
    });
  });

describe('the order of the addresses of a host', () => {
  const addressesOf = (order: AddressOrder): Promise<unknown> =>
    new Promise((resolve) =>
      order.lookup(NAME, { all: true }, (_error, all) =>
        resolve((all as dns.LookupAddress[]).map(({ address }) => address)),
      ),
    );

  /** Makes the order follow a connection to the address that ends. */
  function end(order: AddressOrder, remoteAddress: string, isMade: boolean): void {
    const listeners: (() => void)[] = [];
    const once = (_event: string, listener: () => void): unknown => listeners.push(listener);
    order.follow({ remoteAddress, once, destroyed: true } as unknown as Socket, () => isMade);
    for (const listener of listeners) listener();
  }

  afterEach(() => {
    Object.assign(dns, { lookup });
  });

  it('puts addresses without HTTP/2 last, the latest failure at the end, until a connection was made there', async () => {
    const order = new AddressOrder();
    resolveTo('A', 'B', 'C');
    expect(await addressesOf(order)).to.deep.equal(['A', 'B', 'C']);
    end(order, 'B', false);
    end(order, 'A', false);
    expect(await addressesOf(order)).to.deep.equal(['C', 'B', 'A']);
    end(order, 'B', false);
    expect(await addressesOf(order)).to.deep.equal(['C', 'A', 'B']);
    end(order, 'A', true);
    expect(await addressesOf(order)).to.deep.equal(['A', 'C', 'B']);
  });

  it('forgets an address that the host name no longer has', async () => {
    const order = new AddressOrder();
    resolveTo('A', 'B');
    end(order, 'A', false);
    resolveTo('C');
    expect(await addressesOf(order)).to.deep.equal(['C']);
    resolveTo('A', 'C');
    expect(await addressesOf(order)).to.deep.equal(['A', 'C']);
  });
});
