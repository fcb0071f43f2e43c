// Cancels very many calls of the transport socket at a real server, at each point of a call. Also calls a server with a low limit of streams.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { etcdMetrics, sumOf } from '@queuelock/harness/services/metrics';
import { expect } from 'chai';
import { checkOptions, type Transport } from '../src/api/options.ts';
import { http2Driver } from '../src/wire/http2-driver.ts';
import { range } from '../src/wire/http2-methods.ts';
import type { Call } from '../src/wire/link.ts';
import { SocketLink } from '../src/wire/socket-link.ts';
import { framed } from '../src/wire/wire-write.ts';
import { eventually } from './clients.ts';
import { OwnServer } from './own-server.ts';

const WITHIN = { withinMs: 15_000 };
const KEY = Buffer.from('large');
// The value takes two DATA frames. If cancelled calls kept their share of the windows, about 100 calls would stop all later ones.
const VALUE = Buffer.alloc(20_000, 'v');
const CONCURRENT = 20;
const WARM_UP = 10_000;
const CALLS = 200_000;
const MAX_GROWTH = 4 * 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes that this process keeps in memory after garbage collections. */
function memory(): number {
  for (let i = 0; i < 3; i += 1) collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Makes calls on one connection, and cancels most of them. The number of a call decides when it is cancelled. */
class Caller {
  readonly link: SocketLink;
  succeeded = 0;
  readonly errors: Error[] = [];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #request = framed(range.encode, { key: KEY });

  constructor(endpoint: string) {
    const [host = '', port] = endpoint.split(':');
    this.#headers = {
      ':method': 'POST',
      ':scheme': 'http',
      ':authority': endpoint,
      ':path': range.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    };
    this.link = new SocketLink(
      { host, port: Number(port), authority: endpoint, tls: undefined },
      { connectTimeoutMs: 15_000, pingEveryMs: 6_000, pingTimeoutMs: 10_000, window: 65_535 },
      { onReady: () => undefined, onRetired: () => undefined, onClose: () => undefined },
    );
  }

  async make(calls: number): Promise<void> {
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < calls) await this.#make((next += 1));
    };
    await Promise.all(Array.from({ length: CONCURRENT }, loop));
  }

  #make(n: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = (): void => {
        call.cancel();
        setImmediate(resolve);
      };
      const call: Call = this.link.open(
        { headers: this.#headers, readsAtEnd: false },
        {
          onMessage: () => n % 6 === 4 && cancel(),
          onEnd: (error) => {
            if (error) this.errors.push(error);
            this.succeeded += 1;
            setImmediate(resolve);
          },
        },
      );
      if (n % 6 === 0) cancel();
      else if (n % 6 === 1) call.write(this.#request);
      else call.end(this.#request);
      if (n % 6 === 1 || n % 6 === 2) cancel();
      if (n % 6 === 3) setImmediate(cancel);
    });
  }
}

describe('calls over the transport socket that are cancelled', function () {
  this.timeout(400_000);
  const own = new OwnServer();

  it('leave no stream and no memory behind, and a lock that is held meanwhile is not lost', async () => {
    const { endpoint } = own.server;
    const locks = createLockClient(etcd({ hosts: endpoint, transport: 'socket' }), { ttlMs: 3_000 });
    const driver = http2Driver(endpoint, checkOptions({ hosts: endpoint, transport: 'socket' }));
    await driver.put({ key: KEY, value: VALUE }, WITHIN);
    const caller = new Caller(endpoint);
    try {
      await locks.run('held', async (ownership) => {
        await caller.make(WARM_UP);
        const before = memory();
        await caller.make(CALLS);
        expect(memory() - before, 'bytes').to.be.lessThan(MAX_GROWTH);
        expect(ownership.held).to.equal(true);
      });
      expect(caller.errors).to.deep.equal([]);
      expect(caller.succeeded).to.be.at.least((WARM_UP + CALLS) / 6 - 2);
      expect(caller.link.isUsable, 'the first connection is still in use').to.equal(true);
      await eventually('the server has ended all calls', async () => {
        const metrics = await etcdMetrics(endpoint);
        const calls = { grpc_method: 'Range' };
        const started = sumOf(metrics, 'grpc_server_started_total', calls);
        return started > CALLS / 6 && started === sumOf(metrics, 'grpc_server_handled_total', calls);
      });
    } finally {
      caller.link.destroy();
      driver.close();
      await locks.close();
    }
  });
});

describe('an etcd server that permits ten streams at a time', function () {
  this.timeout(60_000);
  const own = new OwnServer({ 'max-concurrent-streams': 10 });

  for (const transport of ['http2', 'socket'] satisfies Transport[])
    it(`refuses no call of a burst over the transport ${transport}`, async () => {
      const hosts = own.server.endpoint;
      for (let run = 0; run < 10; run += 1) {
        const driver = http2Driver(hosts, checkOptions({ hosts, transport }));
        try {
          const put = (_: unknown, n: number): Promise<unknown> =>
            driver.put({ key: Buffer.from(`burst-${n}`), value: KEY }, WITHIN);
          await Promise.all(Array.from({ length: 300 }, put));
        } finally {
          driver.close();
        }
      }
    });
});
