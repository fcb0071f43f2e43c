import { expect } from 'chai';
import pg from 'pg';
import postgresJs from 'postgres';
import { createLockClient } from '@queuelock/core';
import { postgres, type PostgresOptions } from '@queuelock/postgres';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { until } from '@queuelock/harness/services/until';
import { OwnServer } from './servers.ts';

const onnotice = (): void => undefined;

describe('a client of postgres.js that is passed to postgres()', () => {
  const server = new OwnServer();
  const clients: postgresJs.Sql[] = [];
  const client = (options: postgresJs.Options<Record<string, never>> = {}): postgresJs.Sql => {
    const made = postgresJs(server.url, { onnotice, ...options }) as postgresJs.Sql;
    clients.push(made);
    return made;
  };
  afterEach(() => Promise.all(clients.splice(0).map((one) => one.end({ timeout: 0 }))));

  it('hands a lock over by a notification, with unchanged names and labels', async () => {
    const names = ['jobs', `o"d\\d'{}, näme\n`];
    const locks = createLockClient(postgres({ client: client() }));
    const second = createLockClient(postgres({ url: server.url }));
    for (const name of names) {
      const hold = await locks.acquire(name, { owner: `{"a\\":1}'` });
      const waiting = second.acquire(name);
      await until(
        async () =>
          expect(await server.column('select count(*)::int from queuelock.entry')).to.deep.equal([2]),
        { what: 'two entries', withinMs: 10_000 },
      );
      await hold.release();
      const next = await waiting;
      const again = locks.acquire(name);
      await next.release();
      await (await again).release();
    }
    await Promise.all([locks.close(), second.close()]);
  });

  it('does not affect locks by its options transform, types and onnotify', async () => {
    const shout = (text: string): string => text.toUpperCase();
    const types = { number: { to: 23, from: [16, 20, 23, 25, 114, 701], serialize: shout, parse: shout } };
    const changing = client({
      max: 1,
      transform: { column: shout, value: shout, row: () => ({ nothing: true }) },
      types: types as never,
      ...({ onnotify: () => expect.fail('notified') } as object),
    });
    const held = await changing.reserve();
    const locks = createLockClient(postgres({ client: changing, requestTimeoutMs: 5_000 }), { ttlMs: 2_000 });
    const hold = await locks.acquire('jobs');
    const waiting = locks.acquire('jobs');
    await hold.release();
    await (await waiting).release();
    await locks.close();
    held.release();
  });

  it('leaves no connection of the backend open when the lock client is closed', async () => {
    const locks = createLockClient(
      postgres({ client: client({ connection: { application_name: 'of the application' } }) }),
    );
    await locks.run('jobs', () => undefined);
    const connected = `select count(*)::int from pg_stat_activity where application_name = 'of the application'`;
    expect((await server.column(connected))[0]).to.be.greaterThan(1);
    await locks.close();
    await server.until(connected, 0);
  });

  it('keeps its session when its connections are cut, over a new connection', async () => {
    const backend = postgres({
      client: client({ connection: { application_name: 'cut' } }),
      requestTimeoutMs: 5_000,
    });
    const session = await backend.open(10_000, signal);
    const spec = newSpec();
    expect((await session.enqueue(spec)).turn.admitted).to.equal(true);
    await server.operator.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut'`,
    );
    await until(() => session.renew(signal).then(() => undefined), {
      what: 'a renewal over a new connection',
      withinMs: 10_000,
    });
    expect(await session.remove(spec.queue, spec.id)).to.equal(true);
    await session.close();
    await backend.close();
  });

  const refused: readonly (readonly [what: string, client: () => unknown, message: string])[] = [
    ['a pool of npm pg', () => new pg.Pool(), 'client is a client of npm postgres'],
    ['the function of postgres.js', () => postgresJs, 'client is a client of npm postgres'],
    [
      'a client of several hosts',
      () => client({ host: ['127.0.0.1', '127.0.0.2'], port: [1, 2] } as never),
      'option host of client has one host',
    ],
    [
      'a client that throws when its options are read',
      () =>
        Object.defineProperty(
          Object.assign(() => undefined, { reserve: () => undefined }),
          'options',
          {
            get() {
              throw new TypeError('no options here');
            },
          },
        ),
      'client can be inspected without an error; got "TypeError: no options here"',
    ],
  ];
  for (const [what, made, message] of refused)
    it(`is refused with INVALID_ARGUMENT when it is ${what}`, () => {
      expect(() => postgres({ client: made() as NonNullable<PostgresOptions['client']> }))
        .to.throw(message)
        .with.property('code', 'INVALID_ARGUMENT');
    });

  it('is refused together with a pool, a url or a driver', () => {
    const more: readonly PostgresOptions[] = [
      { pool: new pg.Pool() },
      { url: server.url },
      { driver: 'postgres' },
      { auth: { username: 'u' } },
    ];
    for (const options of more)
      expect(() => postgres({ client: client(), ...options })).to.throw(/INVALID_ARGUMENT/);
    expect(() => postgres({ driver: 'mysql' as never })).to.throw(/driver is pg or postgres; got "mysql"/);
  });

  it('causes ACCESS_DENIED for an unknown user, and UNAVAILABLE for a server that cannot be reached', async () => {
    await server.operator.query('drop role if exists absent_role');
    const url = server.url.replace('postgres@', 'absent_role@');
    const denied = postgres({ url, driver: 'postgres' });
    expect((await refusal(denied.open(10_000, signal))).code).to.equal('ACCESS_DENIED');
    const away = postgres({ url: 'postgres://u@127.0.0.1:1/db', driver: 'postgres', requestTimeoutMs: 500 });
    expect((await refusal(away.open(10_000, signal))).code).to.equal('UNAVAILABLE');
    await Promise.all([denied.close(), away.close()]);
  });
});
