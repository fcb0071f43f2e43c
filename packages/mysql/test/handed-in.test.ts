import { expect } from 'chai';
import { createPool, type PoolOptions } from 'mysql2/promise';
import { createLockClient, isQueueLockError } from '@queuelock/core';
import { mysql, type MysqlOptions } from '@queuelock/mysql';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

type Pool = NonNullable<MysqlOptions['pool']>;

describe('a pool that is passed to mysql()', () => {
  const clients = new Clients();

  const settings: readonly PoolOptions[] = [
    { typeCast: false },
    { typeCast: (field) => field.string()?.toUpperCase() },
    { rowsAsArray: true },
    { decimalNumbers: true },
    { supportBigNumbers: true, bigNumberStrings: true },
    { dateStrings: true },
    { jsonStrings: true },
    { namedPlaceholders: true },
    { nestTables: true },
    { multipleStatements: true },
    { flags: ['-FOUND_ROWS'] },
  ];
  for (const options of settings) {
    const text = JSON.stringify(options, (_name, value: unknown) =>
      typeof value === 'function' ? 'a function' : value,
    );
    it(`hands a lock over from one client to another with the options ${text}`, async () => {
      const [one, other] = [clients.pool(options), clients.pool()].map((pool) =>
        createLockClient(mysql({ pool })),
      );
      const hold = await one!.acquire('jobs');
      const waiting = other!.acquire('jobs');
      await hold.release();
      const next = await waiting;
      expect(next.token > hold.token).to.equal(true);
      await next.release();
      await Promise.all([one!.close(), other!.close()]);
    });
  }

  it('creates its tables even with namedPlaceholders and a typeCast', async () => {
    await clients.operator.run('create database other');
    const pool = clients.pool({
      uri: clients.url.replace(/[^/]*$/, 'other'),
      namedPlaceholders: true,
      typeCast: (field) => field.string(),
    });
    const locks = createLockClient(mysql({ pool }));
    expect((await locks.acquire('jobs')).held).to.equal(true);
    await locks.close();
  });

  for (const garbage of [[], '', 7, null, {}, [null], [7], [{}], [[], []], [[{ word: 'later' }], []]]) {
    it(`confirms no heartbeat when it returns the reply ${JSON.stringify(garbage)}`, async () => {
      let isBroken = false;
      const real = clients.pool();
      const pool: Pool = {
        async getConnection() {
          const connection = await real.getConnection();
          return {
            query: async (statement) => (isBroken ? garbage : connection.query(statement)),
            release: () => connection.release(),
            destroy: () => connection.destroy(),
          };
        },
      };
      const session = await clients.session(clients.connect({ pool, requestTimeoutMs: 1_000 }));
      isBroken = true;
      expect(await refusal(session.renew(signal))).to.have.property('code', 'UNAVAILABLE');
      isBroken = false;
      expect(await session.renew(signal)).to.equal(30_000);
    });
  }

  it('is refused when a wrapper changes its rows', async () => {
    const pool = clients.pool();
    const wrapper: Pool = {
      async getConnection() {
        const connection = await pool.getConnection();
        return {
          // Simulates a client library with another form of results: its `query` resolves with the rows and
          // not with the pair `[rows, fields]`.
          query: async ({ sql }) => ((await connection.query(sql)) as readonly unknown[])[0],
          release: () => connection.release(),
          destroy: () => connection.destroy(),
        };
      },
    };
    const backend = mysql({ pool: wrapper });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('pool returns rows as the server sent them, as [rows, fields]');
    await backend.close();
  });
});

describe('a pool of MySQL that the application uses too', () => {
  const clients = new Clients();

  it('leaves the backend a connection for heartbeats and steps when the application uses all other connections', async () => {
    const pool = clients.pool({ connectionLimit: 3 });
    const session = await clients.session(clients.connect({ pool, requestTimeoutMs: 1_000 }));
    const first = await pool.getConnection();
    const second = await pool.getConnection();
    await session.renew(signal);
    const specs = [newSpec(), newSpec({ queue: 'other' })];
    for (const { turn } of await Promise.all(specs.map((spec) => session.enqueue(spec))))
      expect(turn.admitted).to.equal(true);
    await session.renew(signal);
    for (const { queue, id } of specs) expect(await session.remove(queue, id)).to.equal(true);
    first.release();
    second.release();
  });

  it('has connections for locks that the application acquires inside its transactions', async () => {
    const pool = clients.pool({ connectionLimit: 4 });
    const locks = createLockClient(mysql({ pool }));
    await locks.run('account', () => undefined);
    const request = async (nth: number): Promise<number> => {
      const connection = await pool.getConnection();
      await connection.query('begin');
      const done = await locks.run('account', () => nth);
      await connection.query('commit');
      connection.release();
      return done;
    };
    const requests = Array.from({ length: 8 }, (_, nth) => request(nth));
    expect(await Promise.all(requests)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    await locks.close();
  });

  it('gets its connections back when the client is closed', async () => {
    const pool = clients.pool({ connectionLimit: 2, waitForConnections: false });
    const backend = mysql({ pool });
    await (await backend.open(10_000, signal)).close();
    await backend.close();
    for (const connection of [await pool.getConnection(), await pool.getConnection()]) connection.release();
  });

  it('is named in the error when all its connections are in use', async () => {
    const pool = clients.pool({ connectionLimit: 2 });
    const taken = [await pool.getConnection(), await pool.getConnection()];
    const backend = clients.connect({ pool, requestTimeoutMs: 50 });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(
      /gave no connection within \d+ ms: all 2 connections of the pool are in use, and 1 requests wait for one/,
    );
    for (const connection of taken) connection.release();
  });
});

describe('a pool that mysql() cannot use', () => {
  it('is refused when it is of npm mysql, which takes callbacks', () => {
    const pool = { getConnection: () => undefined, acquireConnection: () => undefined };
    expect(() => mysql({ pool: pool as never })).to.throw('got "a pool of npm mysql"');
  });

  it('is refused when it has one connection', async () => {
    const pool = createPool({ host: '127.0.0.1', connectionLimit: 1 });
    expect(() => mysql({ pool })).to.throw('option connectionLimit of pool must be at least 2');
    await pool.end();
  });

  it('is refused when it throws while it is inspected', () => {
    const pool = new Proxy({} as Pool, {
      get() {
        throw new TypeError('closed');
      },
    });
    expect(() => mysql({ pool }))
      .to.throw('pool can be inspected without an error; got "TypeError: closed"')
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('is refused when its connections lack a method', async () => {
    const backend = mysql({
      pool: { getConnection: () => Promise.resolve({ query: () => undefined }) } as never,
    });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('a connection that has destroy(); got "a connection without destroy()"');
    await backend.close();
  });

  for (const method of ['getConnection', 'query', 'release', 'destroy']) {
    for (const phase of ['at once', 'later'] as const) {
      it(`causes no uncaught exception when its ${method}() throws ${phase}`, async () => {
        const backend = mysql({ pool: failingPool(method, phase), requestTimeoutMs: 20 });
        const opened = await backend.open(10_000, signal).catch((error: unknown) => error);
        if (opened instanceof Error) expect(isQueueLockError(opened), String(opened)).to.equal(true);
        await backend.close();
        await new Promise(setImmediate);
      });
    }
  }

  it('causes no uncaught exception when a statement never ends and destroy() of its connection throws', async () => {
    const pool: Pool = {
      getConnection: () =>
        Promise.resolve({
          query: () => new Promise(() => undefined),
          release: () => undefined,
          destroy: () => {
            throw new TypeError('destroy fails');
          },
        }),
    };
    const backend = mysql({ pool, requestTimeoutMs: 20 });
    expect(await refusal(backend.open(10_000, signal))).to.have.property('code', 'UNAVAILABLE');
    await backend.close();
    await new Promise(setImmediate);
  });
});

/**
 * A simulated pool without a server. Its replies pass the check of the driver, but the method that `failing`
 * names throws or rejects.
 */
function failingPool(failing: string, phase: 'at once' | 'later'): Pool {
  const attempt = (method: string): Promise<void> => {
    if (method !== failing) return Promise.resolve();
    const error = new TypeError(`${method} fails`);
    if (phase === 'later' && (method === 'query' || method === 'getConnection')) return Promise.reject(error);
    throw error;
  };
  const rows = [
    { small: 7, large: 1_900_000_000_000_001, total: '7', bytes: Buffer.from('text'), nothing: null, it: 1 },
  ];
  const connection = {
    query: () => attempt('query').then(() => [rows, []]),
    release: () => void attempt('release'),
    destroy: () => void attempt('destroy'),
  };
  return { getConnection: () => attempt('getConnection').then(() => connection) };
}
