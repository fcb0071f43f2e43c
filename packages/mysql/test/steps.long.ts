import { expect } from 'chai';
import { createLockClient, type LockClient } from '@queuelock/core';
import { migration } from '@queuelock/mysql';
import { roundQuery } from '../src/turn/waiting.ts';
import { admitted, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const TTL_MS = 300_000;

describe('requests to MySQL', () => {
  const clients = new Clients();
  const locks: LockClient[] = [];

  afterEach(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
  });

  /** Returns a connected client with a session, and the statements that it sends from now on. */
  async function ready(): Promise<{ readonly client: LockClient; readonly requested: string[] }> {
    const { pool, requested } = clients.counted();
    const client = createLockClient(clients.connect({ pool }), { ttlMs: TTL_MS });
    locks.push(client);
    await client.run('first', async () => undefined);
    requested.length = 0;
    return { client, requested };
  }

  it('acquire a free lock in one round trip, and release it in one', async () => {
    const { client, requested } = await ready();
    const ownership = await client.acquire('free');
    expect(requested.splice(0)).to.deep.equal(['enter']);
    await ownership.release();
    expect(requested).to.deep.equal(['leave']);
  });

  it('try a lock in one round trip, and change no row if the lock is not free', async () => {
    const [one, other] = [await ready(), await ready()];
    const ownership = await one.client.tryAcquire('tried');
    expect(one.requested).to.deep.equal(['enter']);
    const changes = await clients.operator.number("select changes from queuelock_queue where name = 'tried'");
    expect(await other.client.tryAcquire('tried')).to.equal(undefined);
    expect(other.requested).to.deep.equal(['enter']);
    expect(await clients.operator.entries('tried')).to.have.length(1);
    expect(
      await clients.operator.number("select changes from queuelock_queue where name = 'tried'"),
    ).to.equal(changes);
    await ownership?.release();
  });

  it('hand a lock over with only the release, and poll once for all waiters of a process', async () => {
    const holder = await ready();
    const waiter = await ready();
    const ownership = await holder.client.acquire('handed');
    holder.requested.length = 0;
    const claims = Array.from({ length: 20 }, () => waiter.client.acquire('handed'));
    await clients.until("select count(*) from queuelock_entry where queue = 'handed'", 21);
    const reads = waiter.requested.filter((sql) => sql.startsWith('select 1 as kind')).length;
    await ownership.release();
    const served = claims.map(async (claim) => (await claim).release());
    await Promise.race(served);
    expect(holder.requested).to.deep.equal(['leave']);
    // Of the twenty entries, one is admitted and the others wait. Each poll is one statement for all waiters.
    const after = waiter.requested.filter((sql) => sql.startsWith('select 1 as kind'));
    expect(after.length).to.be.greaterThan(reads);
    for (const read of after) expect(read.match(/select 4/g) ?? []).to.have.length.at.most(1);
    await Promise.all(served);
  }).timeout(60_000);

  it('use only indexes when they poll for waiters', async () => {
    const session = await clients.session();
    const waiting = {
      queue: 'handed',
      ord: '7',
      id: '',
      key: '',
      shared: false,
      limit: 1,
      permits: 1,
      call: 1,
    };
    const sql = roundQuery([session.id], [{ ...waiting, turn: { admitted: false } }]);
    const plan = await clients.operator.rows<{ readonly table: string | null; readonly key: string | null }>(
      `explain ${sql}`,
    );
    const tables = plan.filter(({ table }) => table?.startsWith('queuelock_'));
    expect(tables).to.have.length.greaterThan(2);
    for (const { table, key } of tables) expect(key, table ?? '').not.to.equal(null);
  });

  it('are not sent by a process in which no entry waits', async () => {
    const { client, requested } = await ready();
    const ownership = await client.acquire('alone');
    requested.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(requested).to.deep.equal([]);
    await ownership.release();
  }).timeout(10_000);

  it('acquire a lock of several names in one round trip', async () => {
    const { client, requested } = await ready();
    const ownership = await client.multi(['a', 'b', 'c']).acquire();
    expect(requested).to.deep.equal(['enter']);
    await ownership.release();
  });
});

describe('an entry that was removed from a queue on MySQL', () => {
  const clients = new Clients();

  it('is not added again by a late enqueue after its eviction', async () => {
    const backend = clients.connect();
    const session = await clients.session(backend);
    const spec = newSpec({ queue: 'evicted' });
    const { key, order } = await session.enqueue(spec);
    expect(await backend.evict?.('evicted', { key, order })).to.equal(true);
    expect(await refusal(session.enqueue(spec))).to.have.property('code', 'ENTRY_LOST');
    expect(await clients.operator.entries('evicted')).to.deep.equal([]);
  });

  it('is not added again when the enqueue of a multi-lock that contains it is repeated', async () => {
    const session = await clients.session();
    const specs = [newSpec({ queue: 'left' }), newSpec({ queue: 'right' })];
    const [left] = (await session.enqueueAll?.(specs)) ?? [];
    await clients.operator.evict(left?.key ?? '');
    for (const attempt of ['repeated', 'late'])
      expect(await refusal(session.enqueueAll?.(specs) ?? Promise.resolve()), attempt).to.have.property(
        'code',
        'ENTRY_LOST',
      );
    expect(await clients.operator.entries('left')).to.deep.equal([]);
    expect(await clients.operator.entries('right')).to.deep.equal([]);
  });
});

describe('the fencing tokens on MySQL', () => {
  const clients = new Clients();

  async function tokenOf(queue: string): Promise<bigint> {
    const session = await clients.session();
    const spec = newSpec({ queue });
    const { token } = await session.enqueue(spec);
    await session.remove(queue, spec.id);
    return token;
  }

  it('grow even if the server clock was set back and the row of the queue was removed', async () => {
    const first = await tokenOf('behind');
    const { operator } = clients;
    const ahead = first + 60_000_000_000n;
    await operator.run(`update queuelock_queue set last = ${ahead} where name = 'behind'`);
    expect((await tokenOf('behind')) > ahead).to.equal(true);
    // Simulates a queue that was not used for a day, on a server whose clock was set back meanwhile.
    await operator.run(`update queuelock_queue set last = 4 where name = 'behind'`);
    await operator.run(`update queuelock_meta set floor = ${ahead * 2n}, tidied = '1970-01-02'`);
    await operator.run('call queuelock_tidy()');
    expect(
      await operator.number("select count(*) from queuelock_queue where name = 'behind'"),
      'rows of it',
    ).to.equal(0);
    expect((await tokenOf('behind')) > ahead * 2n).to.equal(true);
  });

  it('are higher in a new queue than in any queue whose row was removed before', async () => {
    await tokenOf('old');
    const { operator } = clients;
    await operator.run("update queuelock_queue set last = 1000 where name = 'old'");
    await operator.run("update queuelock_meta set floor = 7, tidied = '1970-01-02'");
    await operator.run('call queuelock_tidy()');
    expect(await operator.number('select floor from queuelock_meta')).to.equal(1000);
  });
});

describe('a step on MySQL', () => {
  const clients = new Clients();

  it('is repeated without an error for its caller when the server aborts it because of a deadlock', async () => {
    const session = await clients.session();
    const { operator } = clients;
    for (const queue of ['one', 'two']) {
      const spec = newSpec({ queue });
      await session.enqueue(spec);
      await session.remove(queue, spec.id);
    }
    const before = await operator.number(
      "select variable_value from information_schema.global_status where variable_name = 'INNODB_DEADLOCKS'",
    );
    // The operator's transaction locks the row of queue `two` and then requests that of queue `one`. The step
    // locks them in the opposite order, so they deadlock. The transaction has more changes to undo, so the
    // server aborts the step.
    await operator.run('begin');
    await operator.run(
      "insert into queuelock_trace (queue, ord) values ('x', 1), ('x', 2), ('x', 3), ('x', 4), ('x', 5), ('x', 6), ('x', 7), ('x', 8)",
    );
    await operator.run("update queuelock_queue set changes = changes + 1 where name = 'two'");
    const placed = session.enqueueAll!([newSpec({ queue: 'one' }), newSpec({ queue: 'two' })]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await operator.run("update queuelock_queue set changes = changes + 1 where name = 'one'");
    await operator.run('commit');
    expect((await placed).map(({ turn }) => turn.admitted)).to.deep.equal([true, true]);
    const after = await operator.number(
      "select variable_value from information_schema.global_status where variable_name = 'INNODB_DEADLOCKS'",
    );
    expect(after - before).to.equal(1);
  }).timeout(30_000);

  it('has correct results over a pool with any isolation level and any options for the format of rows', async () => {
    const pool = clients.pool({ rowsAsArray: true, supportBigNumbers: true, bigNumberStrings: true });
    const { operator } = clients;
    await operator.run("set global tx_isolation = 'SERIALIZABLE'");
    const [one, other] = [await clients.session(clients.connect({ pool })), await clients.session()];
    const held = newSpec();
    await one.enqueue(held);
    const next = admitted(await other.enqueue(newSpec()));
    expect(await one.tryEnqueue(newSpec())).to.equal(undefined);
    expect(await one.renew(signal)).to.equal(30_000);
    await one.remove('jobs', held.id);
    await next;
    const [[isolation]] = (await pool.query('select @@tx_isolation')) as unknown as [[unknown]];
    expect(isolation).to.deep.equal(['SERIALIZABLE']);
    await operator.run("set global tx_isolation = 'REPEATABLE-READ'");
  });

  it('treats names that differ in trailing blanks, accents or their last byte as different queues', async () => {
    const session = await clients.session();
    const long = 'ä'.repeat(255);
    const names = ['a', 'a ', 'A', 'á', 'a\u0301', 'a\0', `${long}aa`, `${long}ab`, "'; -- \\"];
    const placements = [];
    for (const queue of names) placements.push(await session.enqueue(newSpec({ queue })));
    for (const { turn } of placements) expect(turn.admitted).to.equal(true);
    expect(() => clients.connect().checkName(`${long}abc`)).to.throw('is at most 512 bytes of UTF-8');
  });
});

describe('the tables of MySQL', () => {
  const clients = new Clients();

  async function user(name: string, rights: string, database: string): Promise<string> {
    const { operator } = clients;
    await operator.run(`create database ${database}`);
    await operator.run(`create user ${name}@localhost identified by 'secret-word'`);
    await operator.run(`grant ${rights} on ${database}.* to ${name}@localhost`);
    return `mysql://${name}:secret-word@${clients.server.endpoint}/${database}`;
  }

  it('are created by one of many clients that connect at the same time', async () => {
    const sessions = await Promise.all(Array.from({ length: 8 }, () => clients.session()));
    expect(sessions).to.have.length(8);
  }).timeout(60_000);

  it('are not created by a user without permission, and the error contains the statements to run', async () => {
    const url = await user('poor', 'select, insert, update, delete, execute', 'poor');
    const { code, message } = await refusal(clients.session(clients.connect({ url })));
    expect(code).to.equal('ACCESS_DENIED');
    expect(message).to.include('@queuelock/mysql/migration.sql');
    expect(message).not.to.include('secret-word');
  });

  it('can be used without the permission to create tables once they exist', async () => {
    const url = await user('plain', 'select, insert, update, delete, execute', 'plain');
    const { operator } = clients;
    await operator.run('use plain');
    // Splits the script into statements as the program mysql does.
    const statements = migration.slice(migration.indexOf('//\n') + 3).split(' //\n');
    for (const sql of statements.slice(0, -1)) await operator.run(sql);
    await operator.run('use locks');
    const locks = createLockClient(clients.connect({ url }), { ttlMs: TTL_MS });
    const holding = await locks.acquire('plain');
    const claim = locks.acquire('plain');
    await holding.release();
    await (await claim).release();
    await locks.multi(['a', 'b']).run(async () => undefined);
    await locks.close();
  });

  it('are neither changed nor used when a later release of queuelock has written them', async () => {
    await clients.session();
    await clients.operator.run('update queuelock_meta set version = 2');
    const { code, message } = await refusal(clients.session());
    await clients.operator.run('update queuelock_meta set version = 1');
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.include('of a later release, version 2');
  });

  it('are not created with a wrong password or without the database, and no error contains the password', async () => {
    const wrong = clients.url.replace('root@', 'root:secret-word@');
    const denied = await refusal(clients.session(clients.connect({ url: wrong })));
    expect(denied.code).to.equal('ACCESS_DENIED');
    expect(denied.message).not.to.include('secret-word');
    const absent = clients.url.replace(/\w+$/, 'absent');
    expect(await refusal(clients.session(clients.connect({ url: absent })))).to.have.property(
      'code',
      'INVALID_ARGUMENT',
    );
  });

  it('are repaired after a restore without procedures, and after a table was dropped or truncated', async () => {
    const locks = createLockClient(clients.connect());
    await locks.run('restored', () => undefined);
    const spoil: Readonly<Record<string, readonly string[]>> = {
      'a restore without procedures': ['enter', 'leave', 'renew'].map(
        (name) => `drop procedure queuelock_${name}`,
      ),
      'a missing table': ['drop table queuelock_entry'],
      'a truncated mark': ['truncate table queuelock_meta'],
    };
    for (const [what, statements] of Object.entries(spoil)) {
      for (const statement of statements) await clients.operator.run(statement);
      expect(await locks.run('restored', () => what)).to.equal(what);
      const fresh = createLockClient(clients.connect());
      expect(await fresh.run('restored', () => what)).to.equal(what);
      await fresh.close();
    }
    await locks.close();
  });

  it('cause no error in the diagnosis, which also names the version of the server', async () => {
    const findings = await clients.connect().diagnose!('');
    expect(findings.map(({ text }) => text).join('\n')).to.match(/MariaDB 1\d+\.\d+/);
    expect(findings.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
