import { expect } from 'chai';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Connection } from '../src/server/connection.ts';
import { Lookups } from '../src/server/lookups.ts';
import { checkOptions } from '../src/api/options.ts';
import { Clients, codeOf, freshQueue, newSpec } from './clients.ts';
import { startOwnServer } from './own-server.ts';
import { requestsOf } from './requests.ts';

describe('an etcd server that accepts ten operations in a transaction', () => {
  let server: ProcessService;
  const clients = new Clients();

  before(async () => {
    server = await startOwnServer({ 'max-txn-ops': 10 });
  });
  after(() => server.stop());
  afterEach(() => clients.close());

  for (const transport of ['etcd3', 'http2', 'socket'] as const) {
    it(`refuses an enqueue in 20 queues with a definite error, and keeps the session (${transport})`, async () => {
      const session = await clients.session({ hosts: server.endpoint, transport });
      const held = newSpec(freshQueue());
      await session.enqueue(held);
      const specs = Array.from({ length: 20 }, () => newSpec(freshQueue()));
      const requesting = async (): Promise<void> => {
        expect(await codeOf(session.enqueueAll?.(specs))).to.equal('INVALID_ARGUMENT');
      };
      expect(await requestsOf(server.endpoint, requesting)).to.be.at.most(21);
      expect(await session.remove(held.queue, held.id)).to.equal(true);
      const keys = sumOf(await etcdMetrics(server.endpoint), 'etcd_debugging_mvcc_keys_total');
      expect(keys).to.equal(0);
    });

    it(`receives a larger transaction only once, even if the client knows the server by two addresses (${transport})`, async () => {
      const hosts = [server.endpoint, server.endpoint.replace('127.0.0.1', 'localhost')];
      const connection = new Connection(checkOptions({ hosts, transport }));
      const { endpoint } = connection;
      let failures = 0;
      void connection.failures$.forEach(() => (failures += 1));
      const success = Array.from({ length: 11 }, (_, i) => ({
        request_range: { key: Buffer.from(`key ${i}`) },
      }));
      const requested = connection.ask('reading much', (etcd, options) => etcd.txn({ success }, options));
      expect(await codeOf(requested)).to.equal('INVALID_ARGUMENT');
      expect([failures, connection.endpoint]).to.deep.equal([0, endpoint]);
      const lookups = new Lookups(connection);
      const reads = success.map(({ request_range: { key } }) => lookups.read({ key }));
      expect((await Promise.all(reads)).map(({ exists }) => exists)).to.deep.equal(success.map(() => false));
      connection.close();
    });
  }
});
