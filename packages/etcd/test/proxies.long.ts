// The transports of etcd behind HTTP/2 proxies, with the settings under which proxies end streams and connections.
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { describeBackend } from '@queuelock/conformance';
import { etcd, type EtcdOptions } from '@queuelock/etcd';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { issueCertificates } from '@queuelock/harness/services/certificates';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';
import {
  findHttp2Proxy,
  HTTP2_PROXIES,
  HTTP2_PROXY_NAMES,
  startHttp2Proxy,
  type Http2ProxyName,
  type Http2ProxySettings,
} from '@queuelock/harness/services/http2-proxy';
import type { ProcessService } from '@queuelock/harness/services/service';
import { orSkip } from '@queuelock/harness/services/skip';
import { expect } from 'chai';
import { checkOptions } from '../src/api/options.ts';
import type { Driver } from '../src/driver/driver.ts';
import { driverOf } from '../src/wire/transport.ts';
import { eventually, freshQueue } from './clients.ts';
import { harnessesOfEtcd } from './conformance-harness.ts';
import { OwnServer } from './own-server.ts';

type OwnTransport = 'http2' | 'socket';

const TIMEOUT_MS = 20_000;
const CALL = { withinMs: TIMEOUT_MS };
const KEY = Buffer.from('key');

/** Apache sends an empty frame with each reply. Node's HTTP/2, and so `http2` and `etcd3`, ends a connection after 1,000 such frames. */
const transportsBehind = (name: Http2ProxyName): readonly OwnTransport[] =>
  name === 'apache2' ? ['socket'] : ['http2', 'socket'];

/** The clients of one transport behind one proxy. `end` closes the clients and stops the servers that a test has started. */
class ProxyBench {
  readonly #own: OwnServer;
  readonly #name: Http2ProxyName;
  readonly #transport: OwnTransport;
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(own: OwnServer, name: Http2ProxyName, transport: OwnTransport) {
    this.#own = own;
    this.#name = name;
    this.#transport = transport;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  /** Registers a server, which `end` then stops. */
  async using(starting: Promise<ProcessService>): Promise<ProcessService> {
    const server = await starting;
    this.#ends.push(() => server.stop());
    return server;
  }

  /** Starts the proxy in front of the etcd server of the suite. */
  start(settings: Http2ProxySettings = {}): Promise<ProcessService> {
    return this.using(startHttp2Proxy(this.#name, this.#own.server, settings));
  }

  locks(hosts: string, more: EtcdOptions = {}): LockClient {
    const options = { hosts, transport: this.#transport, requestTimeoutMs: TIMEOUT_MS };
    const locks = createLockClient(etcd({ ...options, ...more }), { ttlMs: TIMEOUT_MS });
    this.#ends.push(() => locks.close());
    return locks;
  }

  driver(hosts: string): Driver {
    const options = { hosts, transport: this.#transport, requestTimeoutMs: TIMEOUT_MS };
    const driver = driverOf(hosts, checkOptions(options));
    this.#ends.push(async () => driver.close());
    return driver;
  }

  /** Lets one client hold a lock while another waits for it, runs `meanwhile`, and then hands the lock over. */
  async handOver(hosts: string, meanwhile: () => Promise<void>): Promise<void> {
    const queue = freshQueue();
    const held = await this.locks(hosts).acquire(queue);
    let next: Ownership | undefined;
    const waiting = this.locks(hosts)
      .acquire(queue)
      .then((ownership) => (next = ownership));
    await eventually('the waiter is in the queue', async () => {
      return (await this.#own.operator.keysUnder(`${queue}/`)).length === 2;
    });
    await meanwhile();
    expect([held.held, next]).to.deep.equal([true, undefined]);
    await held.release();
    expect((await waiting).held).to.equal(true);
  }

  /** Returns how many watch streams the etcd server of the suite has accepted so far. */
  async watchStreams(): Promise<number> {
    const metrics = await etcdMetrics(this.#own.server.endpoint);
    return sumOf(metrics, 'grpc_server_started_total', { grpc_method: 'Watch' });
  }
}

for (const name of HTTP2_PROXY_NAMES) {
  describe(`etcd behind the proxy ${name}`, () => {
    const own = new OwnServer();
    let proxy: ProcessService | undefined;
    before(async function () {
      await orSkip(this, findHttp2Proxy(name));
      proxy = await startHttp2Proxy(name, own.server, { maxStreams: 6 });
    });
    after(() => proxy?.stop());

    const harnessOf = harnessesOfEtcd({
      hosts: async () => proxy!.endpoint,
      operator: async () => own.server.endpoint,
    });
    describeBackend({
      ...harnessOf(`etcd behind ${name}, over socket,`, {
        transport: 'socket',
        prefix: 'proxies/',
        requestTimeoutMs: 5_000,
      }),
      // The limits are generous, because four tests of this suite run at a time and slow each other down.
      atOnce: 4,
      ttlMs: 3_000,
      expiryGranularityMs: 10_000,
    });
  });

  for (const transport of transportsBehind(name))
    describe(`locks on etcd behind the proxy ${name}, over ${transport}`, function () {
      this.timeout(120_000);
      const own = new OwnServer();
      const bench = new ProxyBench(own, name, transport);
      const { endsIdleStreams, reloadSignal } = HTTP2_PROXIES[name];
      before(async function () {
        await orSkip(this, findHttp2Proxy(name));
      });
      afterEach(() => bench.end());

      it('are handed over through TLS between client, proxy and server', async function () {
        const certificates = await issueCertificates();
        if (!certificates) {
          this['skipReason'] = 'there is no openssl';
          return this.skip();
        }
        const server = await bench.using(startTlsServer(certificates));
        const { endpoint } = await bench.using(startHttp2Proxy(name, server, { certificates }));
        const credentials = { rootCertificate: certificates.ca };
        const [one, other] = [1, 2].map(() => bench.locks(`https://${endpoint}`, { credentials }));
        const held = await one!.acquire('tls');
        const waiting = other!.acquire('tls');
        await held.release();
        expect((await waiting).held).to.equal(true);
      });

      if (endsIdleStreams)
        it('are handed over after the proxy has ended the streams because they were idle', async () => {
          const { endpoint } = await bench.start({ idleSeconds: 2 });
          await bench.handOver(endpoint, async () => {
            const before = await bench.watchStreams();
            await eventually('both clients have opened new streams', async () => {
              return (await bench.watchStreams()) >= before + 2;
            });
          });
        });

      it('are handed over after the proxy was restarted', async () => {
        const proxy = await bench.start();
        await bench.handOver(proxy.endpoint, () => proxy.restart());
      });

      if (reloadSignal)
        it('are acquired without a failure while the proxy loads its configuration again', async () => {
          const proxy = await bench.start();
          const queue = freshQueue();
          let runs = 0;
          const contend = async (): Promise<void> => {
            const locks = bench.locks(proxy.endpoint);
            while (runs < 120) {
              await locks.run(queue, ({ held }) => expect(held).to.equal(true));
              runs += 1;
              if (runs % 40 === 0) process.kill(proxy.pid, reloadSignal);
            }
          };
          await Promise.all([contend(), contend(), contend()]);
        });

      it('have no failed request under limits of streams, and of requests on a connection', async () => {
        const { endpoint } = await bench.start({ maxStreams: 3, requestsPerConnection: 100 });
        const requests = bench.driver(endpoint);
        const send = async (): Promise<void> => {
          for (let i = 0; i < 40; i += 1) await requests.put({ key: KEY, value: KEY }, CALL);
        };
        await Promise.all(Array.from({ length: 50 }, send));
      });

      it('may store a megabyte, and have queues of 5,000 entries', async () => {
        const requests = bench.driver((await bench.start()).endpoint);
        const value = Buffer.alloc(2 ** 20, 'v');
        await requests.put({ key: KEY, value }, CALL);
        expect((await requests.range({ key: KEY }, CALL)).kvs[0]?.value.equals(value)).to.equal(true);
        for (let at = 0; at < 5_000; at += 100) {
          const success = Array.from({ length: 100 }, (_, i) => ({
            request_put: { key: Buffer.from(`long/${at + i}`), value: Buffer.alloc(50) },
          }));
          await requests.txn({ compare: [], success, failure: [] }, CALL);
        }
        const long = { key: Buffer.from('long/'), range_end: Buffer.from('long0') };
        expect((await requests.range(long, CALL)).kvs).to.have.length(5_000);
      });
    });
}
