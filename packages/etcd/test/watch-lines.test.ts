import { expect } from 'chai';
import type { IWatchRequest } from '../src/protocol/messages.ts';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { Connection } from '../src/server/connection.ts';
import { checkOptions } from '../src/api/options.ts';
import { Watches } from '../src/server/watches.ts';
import { eventually } from './clients.ts';
import { startOwnServer } from './own-server.ts';

// The time within which a watch stream must get a response, in milliseconds. It is long, so that the client does not replace a stream during a test.
const LONG_TIMEOUT_MS = 30_000;
const CALL = { withinMs: LONG_TIMEOUT_MS };

describe('the watches of an etcd backend', () => {
  let server: ProcessService;
  let connection: Connection;
  let watches: Watches;
  let stops: (() => void)[];
  /** The keys whose watches the client has requested, by stream. */
  let streams: string[][];
  let live: number;
  let deleted: string[];

  before(async () => {
    server = await startOwnServer();
  });
  after(() => server.stop());
  beforeEach(() => {
    [streams, stops, live, deleted] = [[], [], 0, []];
    const options = { hosts: server.endpoint, requestTimeoutMs: LONG_TIMEOUT_MS, ...etcdTransport() };
    connection = new Connection(checkOptions(options));
    const { driver } = connection.endpoint;
    const open = driver.watch.bind(driver);
    driver.watch = (listener) => {
      const channel = open(listener);
      const write = channel.write.bind(channel);
      const requested: string[] = [];
      streams.push(requested);
      channel.write = (request: IWatchRequest) => {
        if (request.create_request?.key) requested.push(request.create_request.key.toString());
        write(request);
      };
      return channel;
    };
    watches = new Watches(connection, LONG_TIMEOUT_MS);
  });
  afterEach(() => {
    watches.close();
    connection.close();
  });

  function watch(key: string): void {
    const subscription = watches.watch({ key: Buffer.from(key) }).subscribe((notifications) => {
      if (notifications.status === 'live') live += 1;
      if (notifications.status !== 'events') return;
      for (const { type, kv } of notifications.events) if (type === 'Delete') deleted.push(kv.key.toString());
    });
    stops.push(() => subscription.unsubscribe());
  }

  const open = async (): Promise<number> => {
    const metrics = await etcdMetrics(server.endpoint);
    const [started, handled] = ['started', 'handled'].map((which) =>
      sumOf(metrics, `grpc_server_${which}_total`, { grpc_method: 'Watch' }),
    );
    return started! - handled!;
  };

  it('share one stream while there are at most 100 of them', async () => {
    for (let i = 0; i < 100; i += 1) watch(`few/${i}/own`);
    await eventually('all are live', () => live === 100);
    expect(streams.map(({ length }) => length)).to.deep.equal([100]);
  });

  it('are on the same stream for all keys and marks of one queue, with any number of queues', async () => {
    for (let i = 0; i < 400; i += 1) watch(`many/${i}/own`);
    for (let i = 0; i < 400; i += 1) watch(`many/${i}/predecessor`);
    for (let i = 0; i < 400; i += 1) watch(`.queuelock/shared/many/${i}/predecessor`);
    await eventually('all are live', () => live === 1_200);
    expect(streams).to.have.length(4);
    const streamOf = new Map<string, number>();
    for (const [at, keys] of streams.entries())
      for (const queue of keys.map((key) => /many\/\d+/.exec(key)?.[0] ?? ''))
        expect(streamOf.get(queue) ?? at, queue).to.equal(streamOf.set(queue, at).get(queue));
    expect(streamOf.size).to.equal(400);
  });

  it('use eight streams for 1,000 keys, and keep one stream when all watches have ended', async () => {
    const { driver } = connection.endpoint;
    const { ID } = await driver.leaseGrant({ TTL: 600 }, CALL);
    const keys = Array.from({ length: 1_000 }, (_, i) => `crowd/${i}/holder`);
    for (let done = 0; done < keys.length; done += 100) {
      const some = keys.slice(done, done + 100);
      const success = some.map((key) => ({ request_put: { key: Buffer.from(key), lease: ID } }));
      await driver.txn({ success }, CALL);
    }
    for (const key of keys) watch(key);
    await eventually('all are live', () => live === keys.length);
    expect(streams.map(({ length }) => length)).to.deep.equal(Array.from({ length: 8 }, () => 125));
    await driver.leaseRevoke({ ID }, CALL);
    await eventually('all watchers are notified', () => deleted.length === keys.length);
    expect(new Set(deleted).size).to.equal(keys.length);
    for (const stop of stops) stop();
    await eventually('one is left', async () => (await open()) === 1);
  });
});
