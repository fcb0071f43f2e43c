import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import pg from 'pg';
import { createLockClient, isQueueLockError } from '@queuelock/core';
import { postgres, type PostgresOptions } from '@queuelock/postgres';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { OwnServer } from './servers.ts';

type Pool = NonNullable<PostgresOptions['pool']>;

const shout = (text: string): string => text.toUpperCase();
const { builtins } = pg.types;
const PARSED = [builtins.BOOL, builtins.INT8, builtins.INT4, builtins.TEXT, builtins.JSON, builtins.FLOAT8];

describe('an application that uses npm pg', () => {
  const server = new OwnServer();

  it('may set global type parsers of npm pg without an effect on locks that connect by URL', async () => {
    const before = PARSED.map((oid) => ({
      oid,
      parser: pg.types.getTypeParser(oid) as (text: string) => unknown,
    }));
    for (const oid of PARSED) pg.types.setTypeParser(oid, shout);
    try {
      const locks = createLockClient(postgres({ url: server.url }));
      await expectHandOff(locks, createLockClient(postgres({ url: server.url })));
    } finally {
      for (const { oid, parser } of before) pg.types.setTypeParser(oid, parser);
    }
  });

  it('may set type parsers on its pool without an effect on locks that use this pool', async () => {
    const types = { getTypeParser: () => shout };
    const pool = new pg.Pool({ connectionString: server.url, types });
    await expectHandOff(
      createLockClient(postgres({ pool })),
      createLockClient(postgres({ url: server.url })),
    );
    await pool.end();
  });

  it('gets an error if it wraps its pool in an object that changes the values of rows', async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    const wrapper = {
      async connect() {
        const client = await pool.connect();
        return {
          query: async (statement: pg.QueryConfig) => {
            const { rows } = await client.query<Record<string, unknown>>(statement);
            return {
              rows: rows.map((row) =>
                Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
              ),
            };
          },
          on: client.on.bind(client) as never,
          removeListener: client.removeListener.bind(client) as never,
          release: client.release.bind(client),
        };
      },
    };
    const backend = postgres({ pool: wrapper });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('pool returns rows as the server sent them');
    await backend.close();
    await pool.end();
  });

  it('gets at most one statement of queuelock at a time on each connection of its pool', async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    let most = 0;
    pool.on('connect', (client) => {
      let requested = 0;
      const query = client.query.bind(client) as (...statement: readonly unknown[]) => Promise<unknown>;
      const counted = (...statement: readonly unknown[]): Promise<unknown> => {
        most = Math.max(most, (requested += 1));
        return query(...statement).finally(() => (requested -= 1));
      };
      Object.assign(client, { query: counted });
    });
    const backend = postgres({ pool });
    const session = await backend.open(10_000, signal);
    await Promise.all(Array.from({ length: 3 }, () => session.renew(signal)));
    expect(most).to.equal(1);
    await session.close();
    await backend.close();
    await pool.end();
  });
});

describe('a pool that queuelock shares with the application', () => {
  const server = new OwnServer();
  let pool: pg.Pool;

  beforeEach(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 4 });
  });
  afterEach(() => pool.end());

  it('keeps connections for heartbeats and steps of the backend when the application uses all other connections', async () => {
    const backend = postgres({ pool, requestTimeoutMs: 500 });
    const session = await backend.open(10_000, signal);
    const taken = await Promise.all([pool.connect(), pool.connect()]);
    expect([pool.totalCount, pool.idleCount]).to.deep.equal([4, 0]);
    await session.renew(signal);
    const specs = [newSpec(), newSpec({ queue: 'other' })];
    for (const { turn } of await Promise.all(specs.map((spec) => session.enqueue(spec))))
      expect(turn.admitted).to.equal(true);
    for (const { queue, id } of specs) expect(await session.remove(queue, id)).to.equal(true);
    for (const client of taken) client.release();
    await session.close();
    await backend.close();
  });

  it('lets the application wait for a lock inside a transaction on the same pool', async () => {
    const locks = createLockClient(postgres({ pool }));
    await locks.run('account', () => undefined);
    const request = async (nth: number): Promise<number> => {
      const client = await pool.connect();
      await client.query('begin');
      const done = await locks.run('account', () => nth);
      await client.query('commit');
      client.release();
      return done;
    };
    const requests = Array.from({ length: 8 }, (_, nth) => request(nth));
    expect(await Promise.all(requests)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    await locks.close();
  });

  it('causes an error that states that all connections of the pool are in use', async () => {
    const taken = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
    const backend = postgres({ pool, requestTimeoutMs: 50 });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(
      /gave no connection within \d+ ms: all 4 connections of the pool are in use, and 1 requests wait for one/,
    );
    await backend.close();
    for (const client of taken) client.release();
  });
});

describe('a pool that is passed to postgres()', () => {
  const refused: readonly (readonly [what: string, pool: () => object, message: string])[] = [
    [
      'a pool of one connection',
      () => new pg.Pool({ max: 1 }),
      'option max of pool must be at least 2: one connection listens and sends heartbeats',
    ],
    [
      'a pool with the binary protocol',
      () => new pg.Pool({ binary: true } as pg.PoolConfig),
      'option binary of pool must be false',
    ],
    ['a client', () => new pg.Client(), 'pool is a Pool of npm pg'],
    [
      'a pool that throws when its options are read',
      () =>
        Object.defineProperty({ connect: () => undefined }, 'options', {
          get() {
            throw new TypeError('no options here');
          },
        }),
      'pool can be inspected without an error; got "TypeError: no options here"',
    ],
  ];
  for (const [what, pool, message] of refused) {
    it(`is refused with INVALID_ARGUMENT when it is ${what}`, () => {
      expect(() => postgres({ pool: pool() as Pool }))
        .to.throw(message)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }

  it('is refused when its connections lack a method', async () => {
    const backend = postgres({
      pool: { connect: () => Promise.resolve({ query: () => undefined }) } as never,
    });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect([code, message]).to.deep.equal([
      'INVALID_ARGUMENT',
      '[INVALID_ARGUMENT] pool is a Pool of npm pg (version 8), whose connect() resolves with a client that has on(); got "a client without on()"',
    ]);
    await backend.close();
  });

  for (const garbage of [
    [],
    '',
    7,
    null,
    {},
    { rows: 7 },
    { rows: [] },
    { rows: [{ answer: null }] },
    { rows: [{ answer: {} }] },
  ]) {
    it(`confirms no heartbeat when it returns the reply ${JSON.stringify(garbage)}`, async () => {
      const pool = new FakePool();
      const backend = postgres({ pool: pool as never, requestTimeoutMs: 100 });
      const session = await backend.open(10_000, signal);
      pool.instead = { reply: garbage };
      expect(await refusal(session.renew(signal))).to.have.property('code', 'UNAVAILABLE');
      await session.close();
      await backend.close();
    });
  }

  it('causes no unhandled error event when release() of a connection throws', async () => {
    const pool = new FakePool({ method: 'release', phase: 'at once' });
    const backend = postgres({ pool: pool as never, requestTimeoutMs: 20 });
    await backend.open(10_000, signal).catch(() => undefined);
    await backend.close();
    for (const client of pool.made) client.emit('error', new Error('late'));
  });

  for (const method of ['connect', 'query', 'on', 'removeListener', 'release']) {
    for (const phase of ['at once', 'later'] as const) {
      it(`causes no uncaught exception when its ${method}() throws ${phase}`, async () => {
        const pool = new FakePool({ method, phase });
        const backend = postgres({ pool: pool as never, requestTimeoutMs: 20 });
        const opened = await backend.open(10_000, signal).catch((error: unknown) => error);
        if (opened instanceof Error) expect(isQueueLockError(opened), String(opened)).to.equal(true);
        for (const client of pool.made) {
          for (const [event, argument] of [
            ['notification', undefined],
            ['notification', { channel: 7 }],
            ['error', undefined],
            ['end', undefined],
          ] as const)
            if (client.listenerCount(event) > 0) client.emit(event, argument);
        }
        await backend.close();
        await new Promise(setImmediate);
      });
    }
  }
});

interface Failure {
  readonly method: string;
  readonly phase: 'at once' | 'later';
}

/**
 * A simulated pool without a server. It passes the check that the driver makes of its replies, and delivers
 * no notifications.
 */
class FakePool {
  readonly made: EventEmitter[] = [];
  /** If set, the reply with which the simulated pool responds to all statements. */
  instead: { readonly reply: unknown } | undefined;
  readonly #failure: Failure | undefined;

  constructor(failure?: Failure) {
    this.#failure = failure;
  }

  connect(): Promise<object> {
    return this.#attempt('connect').then(() => {
      const events = new EventEmitter();
      this.made.push(events);
      const client = {
        on: (event: string, listener: () => void) => {
          void this.#attempt('on');
          events.on(event, listener);
        },
        removeListener: (event: string, listener: () => void) => {
          void this.#attempt('removeListener');
          events.removeListener(event, listener);
        },
        release: () => {
          void this.#attempt('release');
        },
        query: ({ text }: { readonly text: string }) =>
          this.#attempt('query').then(() => (this.instead ? this.instead.reply : { rows: rowsOf(text) })),
      };
      return client;
    });
  }

  #attempt(method: string): Promise<void> {
    if (method !== this.#failure?.method) return Promise.resolve();
    const error = new TypeError(`${method} fails`);
    if (this.#failure.phase === 'later' && (method === 'connect' || method === 'query'))
      return Promise.reject(error);
    throw error;
  }
}

function rowsOf(text: string): readonly object[] {
  if (text.startsWith('select 7'))
    return [
      {
        number: 7,
        fraction: 1.5,
        flag: true,
        text: 'text',
        json: { big: 1_900_000_000_000_001, list: ['a', null] },
        nothing: null,
      },
    ];
  return [{ answer: { word: 'ok', num: 1, format: 1 } }];
}

async function expectHandOff(
  one: ReturnType<typeof createLockClient>,
  other: ReturnType<typeof createLockClient>,
): Promise<void> {
  const hold = await one.acquire('jobs');
  const waiting = other.acquire('jobs');
  await hold.release();
  const next = await waiting;
  expect(next.token > hold.token).to.equal(true);
  await next.release();
  await Promise.all([one.close(), other.close()]);
}
