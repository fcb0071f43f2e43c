import { expect } from 'chai';
import pg from 'pg';
import { createLockClient, type LockClient } from '@queuelock/core';
import { until } from '@queuelock/harness/services/until';
import { admitted, refusal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const TTL_MS = 300_000;
const WITHIN_MS = 30_000;

describe('the steps on PostgreSQL', () => {
  const clients = new Clients();
  const locks: LockClient[] = [];

  afterEach(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
  });

  /** Returns a connected client with a session, and a list of the statements that it sends from now on. */
  async function ready(): Promise<{ readonly client: LockClient; readonly requested: string[] }> {
    const { pool, requested } = clients.pool();
    const client = createLockClient(clients.connect({ pool }), { ttlMs: TTL_MS });
    locks.push(client);
    await client.run('first', async () => undefined);
    requested.length = 0;
    return { client, requested };
  }

  async function untilThere(queue: string, count: number): Promise<void> {
    await until(
      async () => {
        const [there] = await clients.column(
          'select count(*)::int from queuelock.entry where queue = $1',
          queue,
        );
        expect(there).to.equal(count);
      },
      { what: `${count} in line`, withinMs: WITHIN_MS },
    );
  }

  it('acquire a free lock in one request, and release it in one', async () => {
    const { client, requested } = await ready();
    const ownership = await client.acquire('free');
    expect(requested).to.deep.equal(['enqueue']);
    await ownership.release();
    expect(requested).to.deep.equal(['enqueue', 'remove']);
  });

  it('try a lock in one request, whether it is free or not', async () => {
    const [one, other] = [await ready(), await ready()];
    const ownership = await one.client.tryAcquire('tried');
    expect(one.requested).to.deep.equal(['enqueue']);
    expect(await other.client.tryAcquire('tried')).to.equal(undefined);
    expect(other.requested).to.deep.equal(['enqueue']);
    await ownership?.release();
    await untilThere('tried', 0);
  });

  it('write nothing when tryAcquire finds that another client holds the lock', async () => {
    const [one, other] = [await ready(), await ready()];
    const ownership = await one.client.acquire('busy');
    const [before] = await clients.column('select pg_current_wal_insert_lsn()');
    const [last] = await clients.column('select last from queuelock.queue where name = $1', 'busy');
    expect(await other.client.tryAcquire('busy')).to.equal(undefined);
    expect(await clients.column('select last from queuelock.queue where name = $1', 'busy')).to.deep.equal([
      last,
    ]);
    expect(await clients.column('select pg_current_wal_insert_lsn() - $1::pg_lsn', before)).to.deep.equal([
      '0',
    ]);
    await ownership.release();
  });

  it('acquire a lock of several names in one request', async () => {
    const { client, requested } = await ready();
    const ownership = await client.multi(['b', 'a', 'c']).acquire();
    expect(requested).to.deep.equal(['enqueue']);
    await ownership.release();
  });

  it('hand a lock over with only the release: it notifies one waiter, and no waiter sends a request', async () => {
    const holder = await ready();
    const waiters = await Promise.all(Array.from({ length: 5 }, ready));
    const listener = new pg.Client({ connectionString: clients.url });
    await listener.connect();
    const notified: string[] = [];
    listener.on('notification', ({ channel }) => notified.push(channel));
    for (const inbox of await clients.column('select inbox from queuelock.session'))
      await listener.query(`listen "${String(inbox)}"`);
    let ownership = await holder.client.acquire('handed');
    const claims = [];
    for (const [place, { client }] of waiters.entries()) {
      claims.push(client.acquire('handed'));
      // Waits until the last claim is in the queue before the next one begins, so that the order of the
      // waiters is known.
      await untilThere('handed', place + 2);
    }
    for (const { requested } of waiters) requested.length = 0;
    for (const claim of claims) {
      notified.length = 0;
      await ownership.release();
      ownership = await claim;
      // The reply to this query arrives after all notifications that the server has sent before. So the test
      // waits for the reply.
      await listener.query('select 1');
      expect(notified).to.have.length(1);
    }
    await ownership.release();
    expect(waiters.map(({ requested }) => requested)).to.deep.equal(waiters.map(() => ['remove']));
    await listener.end();
  });

  it('are committed to the disk, even for a user whose setting synchronous_commit is off', async () => {
    await clients.session();
    const flushed = async (): Promise<unknown> =>
      (
        await clients.column(
          "select current_setting('synchronous_commit') from (select queuelock.begin_step('{}')) x",
        )
      )[0];
    await clients.operator.query('set search_path = queuelock');
    await clients.operator.query('set synchronous_commit = off');
    await clients.operator.query('begin');
    await clients.column("select begin_step('{}')::text");
    expect(await clients.column("select current_setting('synchronous_commit')")).to.deep.equal(['on']);
    await clients.operator.query('commit');
    await clients.operator.query('set synchronous_commit = remote_apply');
    expect(await flushed()).to.equal('remote_apply');
    await clients.operator.query('reset synchronous_commit; reset search_path');
  });

  it('use no JIT and read entries only by indexes, whatever costs the server estimates', async () => {
    const session = await clients.session();
    const [num] = await clients.column('select num from queuelock.session where id = $1', session.id);
    const plans: string[] = [];
    const note = ({ message }: { readonly message?: string | undefined }): void => {
      plans.push(message ?? '');
    };
    clients.operator.on('notice', note);
    await clients.operator.query(
      "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set client_min_messages = log",
    );
    const specs = JSON.stringify([{ ...newSpec({ queue: 'planned', id: 'one' }), permits: 1, value: '' }]);
    await clients.column('select queuelock.enqueue($1, 1, false, $2)', num, specs);
    await clients.column("select queuelock.remove($1, 1, 'planned', 'one', false, null)", num);
    await clients.operator.query('reset all');
    clients.operator.off('notice', note);
    expect(plans.filter((plan) => plan.includes('delete from entry'))).to.have.length(1);
    expect(plans.filter((plan) => /JIT:|Seq Scan on entry/.test(plan))).to.deep.equal([]);
  });

  it('are refused under an isolation level that does not guarantee the order of entries', async () => {
    await clients.session();
    const { pool } = clients.pool({ options: '-c default_transaction_isolation=serializable' });
    const error = await refusal(clients.session(clients.connect({ pool })));
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    expect(error.message).to.contain('default_transaction_isolation');
  });

  it('order entries by the commits of their transactions, not by the times of the requests', async () => {
    const session = await clients.session();
    await session.enqueue(newSpec({ queue: 'ordered' })).then(({ key }) => key);
    // Simulates a step in progress on the queue by an open transaction of the operator. The next step waits for its
    // commit, and then reads what it has written.
    await clients.operator.query('begin');
    await clients.operator.query("select from queuelock.queue where name = 'ordered' for update");
    let isPlaced = false;
    const entering = session.enqueue(newSpec({ queue: 'ordered' })).then((placement) => {
      isPlaced = true;
      return placement;
    });
    await until(
      async () => {
        const waiting = await clients.column("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
        expect(waiting).to.have.length(1);
      },
      { what: 'the next one waits', withinMs: 1_000 },
    );
    expect(isPlaced).to.equal(false);
    await clients.operator.query("delete from queuelock.entry where queue = 'ordered'");
    await clients.operator.query('commit');
    expect((await entering).turn.admitted).to.equal(true);
  });

  it('give entries growing fencing tokens even after the clock was set back', async () => {
    const session = await clients.session();
    const first = newSpec({ queue: 'numbered' });
    const { token } = await session.enqueue(first);
    await session.remove('numbered', first.id);
    // Simulates that the server's clock was two hours ahead when an entry last joined the queue.
    const ahead = '(extract(epoch from clock_timestamp()) * 1000000)::bigint + 7200000000';
    await clients.operator.query(`update queuelock.queue set last = ${ahead} where name = 'numbered'`);
    const second = await session.enqueue(newSpec({ queue: 'numbered' }));
    expect(second.token > token).to.equal(true);
    await session.remove(
      'numbered',
      (await clients.column("select id from queuelock.entry where queue = 'numbered'"))[0] as string,
    );
    const [last] = await clients.column("select last from queuelock.queue where name = 'numbered'");
    await clients.operator.query(
      "insert into queuelock.queue values ('old', 5, 0, '-infinity'), ('aged', 17, 3, '-infinity')",
    );
    await clients.operator.query('update queuelock.queue set last = least(last, 1000)');
    await clients.operator.query('update queuelock.store set floor = $1', [last]);
    await clients.operator.query('select queuelock.tidy()');
    expect(await clients.column('select name from queuelock.queue')).to.deep.equal([]);
    const third = await session.enqueue(newSpec({ queue: 'numbered' }));
    expect(third.token > second.token).to.equal(true);
  });

  it('remove no row of a queue that has entries', async () => {
    const session = await clients.session();
    await session.enqueue(newSpec({ queue: 'kept' }));
    await clients.operator.query('update queuelock.queue set last = 1000');
    await clients.operator.query('select queuelock.tidy()');
    expect(await clients.column('select name from queuelock.queue')).to.deep.equal(['kept']);
  });

  it('end a lease by the clock of the server, and a later heartbeat does not revive the session', async () => {
    const [dead, other] = [await clients.session(), await clients.session()];
    const held = newSpec({ queue: 'left' });
    await dead.enqueue(held);
    const next = await other.enqueue(newSpec({ queue: 'left' }));
    // Simulates that the server's clock was set forward beyond the end of the session's lease.
    await clients.operator.query(
      "update queuelock.session set expires = clock_timestamp() - interval '1 s' where id = $1",
      [dead.id],
    );
    expect(await refusal(dead.renew(new AbortController().signal))).to.include({ code: 'SESSION_LOST' });
    await other.tryEnqueue(newSpec({ queue: 'something else' }));
    expect((await admitted(next)).admitted).to.equal(true);
    expect(await dead.remove('left', held.id)).to.equal(false);
  });

  it('do not end a session whose latest heartbeat still waits for its commit', async () => {
    const [slow, other] = [await clients.session(), await clients.session()];
    await slow.enqueue(newSpec({ queue: 'slow' }));
    await clients.operator.query(
      "update queuelock.session set expires = clock_timestamp() + interval '200 ms' where id = $1",
      [slow.id],
    );
    await clients.operator.query('begin');
    // Simulates a heartbeat that began before the lease expired and is not committed yet.
    await clients.operator.query(
      'update queuelock.session set expires = clock_timestamp() + ttl where id = $1 and expires > clock_timestamp()',
      [slow.id],
    );
    await until(
      async () => {
        const over = await clients.column('select clock_timestamp() > now() + interval $$300 ms$$');
        expect(over).to.deep.equal([true]);
      },
      { what: 'the lease would be over', withinMs: WITHIN_MS },
    );
    expect((await other.enqueue(newSpec({ queue: 'slow' }))).turn.admitted).to.equal(false);
    await clients.operator.query('commit');
    expect((await other.enqueue(newSpec({ queue: 'slow' }))).turn.admitted).to.equal(false);
    await slow.renew(new AbortController().signal);
  });

  it('cause no deadlock when they lock several queues concurrently in any order', async () => {
    const [one, other] = [await clients.session(), await clients.session()];
    const names = ['x', 'y', 'z'];
    const rounds = Array.from({ length: 20 }, async (_, round) => {
      const session = round % 2 === 0 ? one : other;
      const specs = names.toSorted(() => (round % 3) - 1).map((queue) => newSpec({ queue }));
      await session.enqueueAll?.(specs);
      for (const { queue, id } of specs) await session.remove(queue, id);
    });
    await Promise.all(rounds);
    expect(
      await clients.column('select deadlocks::int from pg_stat_database where datname = current_database()'),
    ).to.deep.equal([0]);
  });

  it('succeed again, in the same client, after all tables were truncated', async () => {
    const locks = createLockClient(clients.connect());
    await locks.run('truncated', () => undefined);
    const tables = ['store', 'queue', 'entry', 'session', 'removed', 'trace', 'register'];
    await clients.operator.query(`truncate ${tables.map((name) => `queuelock.${name}`).join(', ')}`);
    const fresh = createLockClient(clients.connect());
    expect(await fresh.run('truncated', () => 'new')).to.equal('new');
    expect(await locks.run('truncated', () => 'there')).to.equal('there');
    expect(await clients.column('select count(*)::int from queuelock.store')).to.deep.equal([1]);
    await Promise.all([fresh.close(), locks.close()]);
  });
});
