import { fork } from 'node:child_process';
import { connect as connectTcp } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Etcd3 } from 'etcd3';
import type { IRequestOp, IResponseHeader, IWatchResponse } from '../src/protocol/messages.ts';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import type { Driver } from '../src/driver/driver.ts';
import { classify } from '../src/driver/errors.ts';
import { checkOptions, type EtcdOptions, type Transport } from '../src/api/options.ts';
import { driverOf } from '../src/wire/transport.ts';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { eventually } from './clients.ts';
import { Operator } from './operator.ts';
import { startOwnServer } from './own-server.ts';

const CALL = { withinMs: 15_000 };
const key = Buffer.from('key');
const alice = { username: 'alice', password: 'wonderland-4711' };
const root = { username: 'root', password: 'root-4711' };

const TRANSPORTS = [
  { transport: 'http2', name: 'HTTP/2 transport' },
  { transport: 'socket', name: 'socket transport' },
] as const;

/** Matches the names of those properties of replies whose values differ between two calls. */
const DULL = /^(revision|.*_revision|ID|lease|raftIndex|raftAppliedIndex|dbSize.*)$/;

/**
 * Makes replies comparable: replaces the values that differ between calls, and removes properties that only one transport has.
 */
function comparable(reply: unknown): unknown {
  const plain = (name: string, value: unknown): unknown => {
    // The driver of this package omits the ids of cluster and member from its replies, since nothing needs them.
    if (['response', 'cluster_id', 'member_id'].includes(name)) return undefined;
    return DULL.test(name) && value !== '0' ? 'some' : value;
  };
  return JSON.parse(JSON.stringify(reply, plain));
}

/**
 * Sets the password of `alice` again to the same value, which makes the server forget her tokens. The client of `root` that does this logs in once.
 */
async function changePassword(hosts: string): Promise<void> {
  const client = new Etcd3({ hosts, auth: root });
  await client.user(alice.username).setPassword(alice.password);
  client.close();
}

for (const { transport, name } of TRANSPORTS)
  describe(`the transport of an etcd client (${name})`, () => {
    let server: ProcessService;
    const drivers: Driver[] = [];

    before(async () => {
      server = await startOwnServer();
    });
    after(() => server.stop());
    afterEach(() => {
      for (const driver of drivers.splice(0)) driver.close();
    });

    function over(by: Transport, more: EtcdOptions = {}, endpoint = server.endpoint): Driver {
      const neverAborted = { hosts: endpoint, transport: by, requestTimeoutMs: CALL.withinMs };
      const driver = driverOf(endpoint, checkOptions({ ...neverAborted, ...more }));
      drivers.push(driver);
      return driver;
    }

    /** Makes one call of each method of the driver, so that replies with all their properties occur. Resolves with the replies. */
    async function repliesOf(driver: Driver): Promise<unknown> {
      const lease = await driver.leaseGrant({ TTL: 60 }, CALL);
      const value = Buffer.alloc(20_000, 'v');
      const replies: unknown[] = [lease, await driver.put({ key, value, lease: lease.ID }, CALL)];
      const received: IWatchResponse[] = [];
      const heartbeats: { header: IResponseHeader }[] = [];
      const watching = driver.watch({
        onResponse: (notifications) => received.push(notifications),
        onEnd: () => undefined,
      });
      watching.write({ create_request: { key, watch_id: '7', filters: ['Nodelete'], prev_kv: true } });
      await eventually('the watch is there', () => received.length === 1);
      const beating = driver.keepAlive({
        onResponse: (heartbeat) => heartbeats.push(heartbeat),
        onEnd: () => undefined,
      });
      beating.write({ ID: lease.ID });
      const exists = { target: 'Create', result: 'Greater', create_revision: '0', key } as const;
      const success: IRequestOp[] = [
        {
          request_range: {
            key,
            range_end: Buffer.from('kez'),
            sort_target: 'Mod',
            sort_order: 'Descend',
            limit: 1,
          },
        },
        { request_put: { key, value: Buffer.from('w'), ignore_lease: true, prev_kv: true } },
        { request_delete_range: { key: Buffer.from('nothing') } },
        {
          request_txn: {
            compare: [exists],
            failure: [],
            success: [{ request_range: { key, count_only: true } }],
          },
        },
      ];
      replies.push(await driver.txn({ compare: [exists], success }, CALL));
      replies.push(await driver.leaseTimeToLive({ ID: lease.ID, keys: true }, CALL));
      replies.push(await driver.deleteRange({ key, prev_kv: true }, CALL));
      replies.push(await driver.range({ key }, CALL));
      const status = await driver.status(CALL);
      replies.push(status, { member: status.header.member_id });
      await eventually('an event and a heartbeat', () => received.length === 2 && heartbeats.length === 1);
      watching.close();
      beating.close();
      await driver.leaseRevoke({ ID: lease.ID }, CALL);
      return comparable([...replies, received, heartbeats]);
    }

    it('returns the same replies as npm etcd3', async () => {
      expect(await repliesOf(over(transport))).to.deep.equal(await repliesOf(over('etcd3')));
    });

    it('rejects with the same errors as npm etcd3', async () => {
      const codes = async (driver: Driver): Promise<unknown[]> => {
        const request = [
          driver.leaseRevoke({ ID: '4711' }, CALL),
          driver.put({ key, lease: '9223372036854775807' }, CALL),
          driver.put({ value: key }, CALL),
          driver.put({ key, ignore_lease: true }, CALL),
        ];
        const settled = await Promise.allSettled(request);
        return settled.map((one) => {
          if (one.status === 'fulfilled') return one.value;
          const { code, message } = classify(one.reason, { what: 'asking', host: 'h' });
          return { code, message };
        });
      };
      const ours = await codes(over(transport));
      expect(ours).to.deep.equal(await codes(over('etcd3')));
      expect(ours[0]).to.have.property('code', 'SESSION_LOST');
      expect(ours[2])
        .to.have.property('message')
        .that.matches(/3 INVALID_ARGUMENT: etcdserver: key is not provided$/);
    });

    it('transfers replies of several megabytes, many concurrent calls, and heartbeats at the same time', async () => {
      const driver = over(transport);
      const value = Buffer.alloc(1_000_000, 'large');
      const names = ['large/1', 'large/2', 'large/3', 'large/4', 'large/5'];
      await Promise.all(names.map((name) => driver.put({ key: Buffer.from(name), value }, CALL)));
      const all = { key: Buffer.from('large/'), range_end: Buffer.from('large0') };
      const { ID } = await driver.leaseGrant({ TTL: 60 }, CALL);
      const heartbeats: string[] = [];
      const beating = driver.keepAlive({
        onResponse: ({ TTL }) => heartbeats.push(TTL),
        onEnd: () => undefined,
      });
      const reads = [driver.range(all, CALL), driver.range(all, CALL)];
      beating.write({ ID });
      const small = Array.from({ length: 300 }, (_, i) =>
        driver.put({ key: Buffer.from(`small/${i}`), value: key }, CALL),
      );
      for (const { kvs } of await Promise.all(reads)) {
        expect(kvs.map((one) => one.key.toString())).to.deep.equal(names);
        expect(kvs.every((one) => one.value.equals(value))).to.equal(true);
      }
      await Promise.all(small);
      await eventually('the heartbeat is answered', () => heartbeats.length === 1);
      beating.close();
    });

    it('loads neither etcd3 nor grpc-js, and does not keep a process running after it was closed', async () => {
      expect(await endOf(new URL('./http2-life.ts', import.meta.url))).to.deep.equal({
        code: 0,
        signal: null,
        printed: '',
      });
    });

    it('does not crash the process when a received message closes the client while other calls are in flight', async () => {
      expect(await endOf(new URL('./http2-closing.ts', import.meta.url))).to.deep.equal({
        code: 0,
        signal: null,
        printed: '',
      });
    });

    /** Runs the given script in a process. Returns its exit code, its signal and what it printed. */
    async function endOf(script: URL): Promise<object> {
      const child = fork(fileURLToPath(script), [server.endpoint, transport], { silent: true });
      let printed = '';
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (chunk) => (printed += String(chunk)));
      return new Promise((resolve) => {
        child.once('close', (code, signal) => resolve({ code, signal, printed }));
      });
    }

    describe('with TLS', () => {
      let certificates: Certificates | undefined;
      let stop = async (): Promise<void> => undefined;
      let endpoint: string;
      let refused: unknown[];

      before(async function () {
        certificates = await issueCertificates();
        if (!certificates) {
          this['skipReason'] = 'there is no openssl';
          this.skip();
        }
      });
      beforeEach(async () => {
        refused = [];
        const { ca, server: identity } = certificates!;
        const options: TlsOptions = {
          ...identity,
          ca,
          requestCert: true,
          rejectUnauthorized: true,
          ALPNProtocols: ['h2'],
        };
        const [host = '', port] = server.endpoint.split(':');
        const gate = createTlsServer(options, (secure) => {
          const plain = connectTcp(Number(port), host);
          for (const side of [secure, plain]) side.on('error', () => undefined);
          secure.pipe(plain).pipe(secure);
        });
        gate.on('tlsClientError', (error) => refused.push(error));
        await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
        endpoint = `127.0.0.1:${(gate.address() as AddressInfo).port}`;
        stop = () => new Promise((resolve) => gate.close(() => resolve()));
      });
      afterEach(async () => {
        for (const driver of drivers.splice(0)) driver.close();
        await stop();
      });

      const read = (credentials: NonNullable<EtcdOptions['credentials']>): Promise<unknown> =>
        over(transport, { credentials }, endpoint).range({ key }, CALL);

      it('connects with a client certificate to a server whose authority it trusts', async () => {
        const { ca: rootCertificate, client } = certificates!;
        await read({ rootCertificate, certChain: client.cert, privateKey: client.key });
      });

      it('refuses a server whose authority it does not trust', async () => {
        const { client } = certificates!;
        const failure = await read({ certChain: client.cert, privateKey: client.key }).catch(String);
        expect(failure).to.match(/UNAVAILABLE: .*certificate/);
      });

      it('is refused without a client certificate when the server requires one', async () => {
        const failure = await read({ rootCertificate: certificates!.ca }).catch(String);
        expect(failure).to.match(/UNAVAILABLE/);
        await eventually('the server has refused it', () => refused.length > 0);
      });
    });

    describe('with authentication', () => {
      before(async () => {
        const operator = new Operator(server.endpoint);
        await operator.switchOnAccessControl({ root, user: alice, prefix: 'allowed/' });
        operator.close();
      });

      const allowed = { key: Buffer.from('allowed/a') };

      it('logs in once for all concurrent calls, and again after the server has forgotten the token', async () => {
        const driver = over(transport, { auth: alice });
        const logIns = async (): Promise<number> =>
          sumOf(await etcdMetrics(server.endpoint), 'grpc_server_handled_total', {
            grpc_method: 'Authenticate',
          });
        const before = await logIns();
        await Promise.all(Array.from({ length: 20 }, () => driver.range(allowed, CALL)));
        expect((await logIns()) - before).to.equal(1);
        await changePassword(server.endpoint);
        await Promise.all(Array.from({ length: 20 }, () => driver.range(allowed, CALL)));
        expect((await logIns()) - before).to.equal(3);
      });

      it('is refused with a wrong password, and without permission', async () => {
        const wrong = over(transport, { auth: { ...alice, password: 'mirror' } });
        const failures = await Promise.allSettled([
          wrong.range(allowed, CALL),
          over(transport, { auth: alice }).range({ key: Buffer.from('elsewhere') }, CALL),
          over(transport).range(allowed, CALL),
        ]);
        for (const failure of failures) {
          const reason: unknown = failure.status === 'rejected' ? failure.reason : failure;
          expect(classify(reason, { what: 'reading', host: 'h' }).code).to.equal('ACCESS_DENIED');
        }
      });
    });
  });
