import { expect } from 'chai';
import * as mariadb from 'mariadb';
import { createPool as createCallbackPool } from 'mariadb/callback';
import { createLockClient } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { until } from '@queuelock/harness/services/until';
import { Clients } from './clients.ts';

describe('npm mariadb', () => {
  const clients = new Clients();
  const pools: mariadb.Pool[] = [];
  const access = (): { readonly host: string; readonly port: number; readonly user: string } => {
    const { hostname, port, username } = new URL(clients.url);
    return { host: hostname, port: Number(port), user: username };
  };
  const pool = (options: mariadb.PoolConfig = {}): mariadb.Pool => {
    const database = new URL(clients.url).pathname.slice(1);
    const made = mariadb.createPool({ ...access(), database, connectionLimit: 4, ...options });
    pools.push(made);
    return made;
  };
  afterEach(() => Promise.all(pools.splice(0).map((one) => one.end())));

  const settings: readonly mariadb.PoolConfig[] = [
    {},
    { rowsAsArray: true, nestTables: true, metaAsArray: true },
    { bigIntAsNumber: true, decimalAsNumber: true, insertIdAsNumber: true, dateStrings: true },
    { namedPlaceholders: true, multipleStatements: true, foundRows: false },
    { typeCast: (column) => column.string()?.toUpperCase() ?? null },
  ];
  for (const options of settings) {
    const names = Object.keys(options).join(', ') || 'none';
    it(`hands a lock over between a client with a pool and one with a URL, with these options of the pool: ${names}`, async () => {
      const locks = createLockClient(mysql({ pool: pool(options) }));
      const second = createLockClient(mysql({ url: clients.url, driver: 'mariadb' }));
      const hold = await locks.acquire('jöbs');
      const waiting = second.acquire('jöbs');
      await hold.release();
      const next = await waiting;
      expect(next.token > hold.token).to.equal(true);
      await next.release();
      await Promise.all([locks.close(), second.close()]);
    });
  }

  it('keeps one connection of its pool for heartbeats and steps when the application uses all other connections', async () => {
    const shared = pool({ connectionLimit: 3 });
    const session = await clients.session(clients.connect({ pool: shared, requestTimeoutMs: 1_000 }));
    const [first, second] = [await shared.getConnection(), await shared.getConnection()];
    await session.renew(signal);
    const spec = newSpec();
    expect((await session.enqueue(spec)).turn.admitted).to.equal(true);
    expect(await session.remove(spec.queue, spec.id)).to.equal(true);
    await Promise.all([first.release(), second.release()]);
  });

  it('reports in the error how many connections are in use when no connection is free', async () => {
    const shared = pool({ connectionLimit: 2 });
    const taken = [await shared.getConnection(), await shared.getConnection()];
    const backend = mysql({ pool: shared, requestTimeoutMs: 100 });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect([code, message]).to.deep.equal([
      'UNAVAILABLE',
      '[UNAVAILABLE] mysql://(a pool) gave no connection within 100 ms: all 2 connections of the pool are in use, and 1 requests wait for one: set its option connectionLimit to at least 2 more than the application uses at a time',
    ]);
    await backend.close();
    await Promise.all(taken.map((connection) => connection.release()));
  });

  it('reports a cut connection, and runs further steps on another connection', async () => {
    const session = await clients.session(
      clients.connect({ url: clients.url, driver: 'mariadb', requestTimeoutMs: 5_000 }),
    );
    const foreign = `from information_schema.processlist where id <> connection_id() and db is not null`;
    // Waits until the connections of earlier tests have ended, so that the lock client's connection is the
    // only one.
    await clients.until(`select count(*) ${foreign}`, 1);
    await clients.operator.run(`kill ${await clients.operator.number(`select id ${foreign}`)}`);
    // The client reports the cut connection at its next step on that connection at the latest.
    await until(() => session.renew(signal).then(() => undefined), {
      what: 'a renewal over another connection',
      withinMs: 10_000,
    });
    const spec = newSpec();
    expect((await session.enqueue(spec)).turn.admitted).to.equal(true);
  });

  it('is refused when the pool is of mariadb/callback, whose methods take callbacks', async () => {
    const callbacks = createCallbackPool({ host: '127.0.0.1', port: 1, connectionLimit: 2 });
    const backend = mysql({ pool: callbacks as never });
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.include('got "a pool of mariadb/callback"');
    await backend.close();
    await new Promise<void>((resolve) => callbacks.end(() => resolve()));
  });

  it('reports ACCESS_DENIED and an unreachable server with the same codes as mysql2', async () => {
    const denied = mysql({ url: clients.url.replace('root@', 'root:wrong@'), driver: 'mariadb' });
    expect((await refusal(denied.open(10_000, signal))).code).to.equal('ACCESS_DENIED');
    const away = mysql({ url: 'mysql://u@127.0.0.1:1/db', driver: 'mariadb', requestTimeoutMs: 500 });
    expect((await refusal(away.open(10_000, signal))).code).to.equal('UNAVAILABLE');
    await Promise.all([denied.close(), away.close()]);
  });

  it('cannot be selected by the option driver if the caller passes a pool', () => {
    expect(() => mysql({ pool: pool(), driver: 'mariadb' })).to.throw(/pool is given without tls, auth/);
    expect(() => mysql({ url: clients.url, driver: 'mysql' as never })).to.throw(
      /driver is mysql2 or mariadb; got "mysql"/,
    );
  });
});
