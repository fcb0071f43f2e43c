import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { isQueueLockError, type Backend } from '@queuelock/core/backend';
import { startConsul, type ConsulService } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { consul } from '@queuelock/consul';
import { errorOf } from '../src/driver/errors.ts';
import { Operator } from './operator.ts';

const TTL_MS = 10_000;

async function found<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const readState = async (): Promise<T> => {
    const value = await read();
    if (value === undefined) throw new Error('not yet');
    return value;
  };
  return until(readState, { what, withinMs: 60_000 });
}

describe('a Consul that accepts few connections from one address', function () {
  this.timeout(180_000);
  const LIMIT = 30;
  let server: ConsulService;
  const clients: LockClient[] = [];

  before(async () => {
    server = await startConsul({
      way: 'process',
      settings: { limits: { http_max_conns_per_client: LIMIT } },
    });
  });
  after(() => server.stop());
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  it('refuses further connections, and the error of the client names http_max_conns_per_client', async () => {
    const backends: Backend[] = [];
    const refused = await found('a request is refused', async () => {
      const backend = consul({ hosts: server.endpoint });
      backends.push(backend);
      return backend.open(TTL_MS, signal).then(
        () => undefined,
        (error: unknown) => error,
      );
    });
    expect(isQueueLockError(refused, 'UNAVAILABLE')).to.equal(true);
    expect(String(refused)).to.include('http_max_conns_per_client');
    await Promise.all(backends.map((backend) => backend.close()));
  });

  it('serves four times as many waiters as connections if maxQueries is a fifth of the connection limit', async () => {
    const client = createLockClient(consul({ hosts: server.endpoint, maxQueries: LIMIT / 5 }), {
      ttlMs: TTL_MS,
    });
    clients.push(client);
    const order: number[] = [];
    const holder = await client.acquire('crowd');
    const waiters = Array.from({ length: 4 * LIMIT }, (_, nth) =>
      client.run('crowd', async () => {
        order.push(nth);
      }),
    );
    await holder.release();
    await Promise.all(waiters);
    expect(order).to.have.length(4 * LIMIT);
  });
});

describe('a Consul that is restored from a snapshot', function () {
  this.timeout(180_000);
  let server: ConsulService;
  let operator: Operator;
  const backends: Backend[] = [];

  before(async () => {
    server = await startConsul({ way: 'process' });
    operator = new Operator(server.endpoint);
  });
  after(() => server.stop());
  afterEach(() => Promise.all(backends.splice(0).map((backend) => backend.close())));

  function connect(): Backend {
    const backend = consul({ hosts: server.endpoint });
    backends.push(backend);
    return backend;
  }

  async function snapshot(): Promise<Uint8Array<ArrayBuffer>> {
    const response = await fetch(`http://${server.endpoint}/v1/snapshot`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async function restore(body: Uint8Array<ArrayBuffer>): Promise<void> {
    const response = await fetch(`http://${server.endpoint}/v1/snapshot`, { method: 'PUT', body });
    expect(response.ok).to.equal(true);
  }

  it('ends a hold and a wait that are not in the snapshot', async () => {
    const saved = await snapshot();
    const holder = createLockClient(connect(), { ttlMs: TTL_MS });
    const waiter = createLockClient(connect(), { ttlMs: TTL_MS });
    const ownership = await holder.acquire('jobs');
    const lost = new Promise((resolve) => {
      ownership.signal.addEventListener('abort', resolve);
    });
    const waiting = waiter.acquire('jobs').then(
      () => 'granted',
      (error: unknown) => error,
    );
    await found('both are in the queue', async () => {
      const keys = await operator.keysUnder('queuelock/queues/jobs/');
      return keys.length === 2 ? keys : undefined;
    });
    await restore(saved);
    await lost;
    expect(ownership.held).to.equal(false);
    expect(await waiting)
      .to.have.property('code')
      .that.matches(/^(ENTRY|SESSION)_LOST$/);
    const next = await holder.acquire('jobs');
    expect(next.token > ownership.token).to.equal(true);
    await Promise.all([holder.close(), waiter.close()]);
  });

  it('keeps a hold and a wait that are in the snapshot, in the same order', async () => {
    const [holder, waiter] = [await connect().open(TTL_MS, signal), await connect().open(TTL_MS, signal)];
    const held = newSpec();
    await holder.enqueue(held);
    const placement = await waiter.enqueue(newSpec());
    let isAdmitted = false;
    const admitted = new Promise<void>((resolve, reject) => {
      placement.turns$.subscribe({
        next: (turn) => {
          isAdmitted ||= turn.admitted;
          if (turn.admitted) resolve();
        },
        error: reject,
      });
    });
    const saved = await snapshot();
    for (let nth = 0; nth < 20; nth += 1) await operator.ask('PUT', '/v1/kv/other', String(nth));
    await restore(saved);
    await holder.renew(signal);
    await waiter.renew(signal);
    expect(isAdmitted).to.equal(false);
    await holder.remove(held.queue, held.id);
    await admitted;
  });
});

describe('a Consul that is set so that no lock can work', function () {
  this.timeout(60_000);

  for (const [settings, named] of [
    [{ limits: { kv_max_value_size: 100 } }, 'kv_max_value_size'],
    [{ http_config: { block_endpoints: ['/v1/txn'] } }, 'http_config.block_endpoints'],
    [{ http_config: { allow_write_http_from: ['10.0.0.0/8'] } }, 'http_config.allow_write_http_from'],
  ] as const)
    it(`makes an acquisition reject immediately, with the name of the setting: ${named}`, async () => {
      const server = await startConsul({ way: 'process', settings });
      const client = createLockClient(consul({ hosts: server.endpoint }), { ttlMs: TTL_MS });
      try {
        const error = await refusal(client.acquire('jobs'));
        expect(error).to.include({ code: 'INVALID_ARGUMENT', retryable: false });
        expect(error.message).to.contain(named);
        expect(await new Operator(server.endpoint).keysUnder('queuelock/queues/')).to.deep.equal([]);
      } finally {
        await client.close();
        await server.stop();
      }
    });

  it('causes an error that names the setting limits.rpc_rate when it refuses a request with 429', () => {
    const { message } = errorOf({ status: 429, body: '' }, 'consul://h:1');
    expect(message).to.contain('limits.rpc_rate');
  });
});

describe('a Consul without namespaces', function () {
  this.timeout(60_000);
  let server: ConsulService;

  before(async () => {
    server = await startConsul({ way: 'process' });
  });
  after(() => server.stop());

  it('refuses the option namespace, and the error names the option', async () => {
    const backend = consul({ hosts: server.endpoint, namespace: 'team' });
    const { code, message } = await refusal(backend.open(TTL_MS, signal));
    expect(code, message).to.equal('INVALID_ARGUMENT');
    expect(message).to.include('the option namespace');
    await backend.close();
  });
});
