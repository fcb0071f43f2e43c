import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import type { Driver, WireEvents } from '../src/driver/driver.ts';
import { IoRedisDriver } from '../src/driver/ioredis-driver.ts';
import { NodeRedisDriver, type Client } from '../src/driver/node-redis-driver.ts';

const settled = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('an attempt to connect to Redis that is aborted while its socket is opening', () => {
  let server: Server;
  let port: number;
  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(() => {
    server.close();
  });

  async function expectNoSocketLeft(driver: Driver, givingUp: AbortController): Promise<void> {
    const events: WireEvents = {
      onMessage: () => undefined,
      onEnd: () => undefined,
      signal: givingUp.signal,
    };
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const opening = settled(driver.open(events));
    // The attempt to connect may end before the server has accepted a connection. So the test waits for the
    // accepted connection or for the end of the attempt.
    const first = await Promise.race([accepted, opening]);
    if (Array.isArray(first)) {
      const [socket] = first as [Socket];
      socket.resume();
      await once(socket, 'close');
    }
    await opening;
    expect(givingUp.signal.aborted).to.equal(true);
  }

  it('leaves no socket with npm redis', async () => {
    const givingUp = new AbortController();
    const make = (options: object): Client => {
      const client = createClient(options) as unknown as Client;
      const connect = client.connect.bind(client);
      return Object.assign(client, {
        connect() {
          const connecting = connect();
          givingUp.abort();
          return connecting;
        },
      });
    };
    const options = { socket: { host: '127.0.0.1', port } };
    await expectNoSocketLeft(new NodeRedisDriver(`127.0.0.1:${String(port)}`, () => options, make), givingUp);
  });

  it('leaves no socket with ioredis', async () => {
    const givingUp = new AbortController();
    const template = new Redis({ host: '127.0.0.1', port, lazyConnect: true });
    const driver = new IoRedisDriver(`127.0.0.1:${String(port)}`, template as never);
    queueMicrotask(() => givingUp.abort());
    await expectNoSocketLeft(driver, givingUp);
  });
});
