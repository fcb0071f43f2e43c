import { expect } from 'chai';
import { repeatUntilDefinite } from '@queuelock/core/backend';
import { faultsOn } from '@queuelock/harness/store-faults';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { mysql } from '@queuelock/mysql';
import { Clients } from './clients.ts';

const WITHIN_MS = 60_000;

describe('MySQL under faults', () => {
  const clients = new Clients();

  // Opens and closes a session, so that the tables exist before the tests.
  before(async () => {
    const backend = mysql({ url: clients.url });
    await (await backend.open(2_000, signal)).close();
    await backend.close();
  });

  faultsOn(() => ({
    server: clients.server,
    urlAt: (endpoint) => clients.url.replace(clients.server.endpoint, endpoint),
    module: import.meta.resolve('@queuelock/mysql'),
    name: 'mysql',
    backend: mysql,
    isStep: (chunk) => chunk.includes('call queuelock_'),
    entries: async (queue) => (await clients.operator.entries(queue)).length,
    forget: (queue) => clients.operator.run(`delete from queuelock_entry where queue = '${queue}'`),
    reconnect: () => clients.reconnect(),
  }));

  it('leaves no entry when an enqueue is delayed until after the removal of that entry', async () => {
    const session = await clients.session(clients.connect({ requestTimeoutMs: 400 }));
    const wanted = newSpec({ queue: 'late' });
    await (await clients.session()).enqueue(newSpec({ queue: 'late' }));
    const { operator } = clients;
    // The operator's row lock delays the step in the server. The step continues there after its client has
    // given up.
    await operator.run('begin');
    await operator.run("select * from queuelock_queue where name = 'late' for update");
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await operator.run('commit');
    await repeatUntilDefinite(() => session.remove('late', wanted.id), AbortSignal.timeout(WITHIN_MS));
    await clients.until(
      "select count(*) from information_schema.processlist where info like '%queuelock_enter%' and id <> connection_id()",
      0,
    );
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'ENTRY_LOST' });
    await clients.until("select count(*) from queuelock_entry where queue = 'late'", 1);
  }).timeout(WITHIN_MS);

  it('removes an entry at the next heartbeat when a restore of the database has brought it back', async () => {
    const session = await clients.session();
    const spec = newSpec({ queue: 'went back' });
    const { order } = await session.enqueue(spec);
    await session.remove('went back', spec.id);
    await clients.operator.run(
      `insert into queuelock_entry values ('went back', ${order}, '${spec.id}', '${session.id}', 0, 1, 1, 1, 0, '')`,
    );
    await session.renew(signal);
    await clients.until("select count(*) from queuelock_entry where queue = 'went back'", 0);
  });

  it('leaves no entry of a session ahead of others when the end of that session was interrupted', async () => {
    const other = await clients.session();
    const crashed = await clients.session();
    for (const queue of ['half', 'other half']) await crashed.enqueue(newSpec({ queue }));
    // Simulates a server that was killed while it ended a session: it has removed the session's entry from
    // only one of two queues.
    await clients.operator.run(
      `update queuelock_session set expires = '1970-01-01' where id = '${crashed.id}'`,
    );
    await clients.operator.run(`delete from queuelock_entry where queue = 'half'`);
    expect((await other.tryEnqueue(newSpec({ queue: 'other half' })))?.turn.admitted).to.equal(true);
    await clients.until(`select count(*) from queuelock_session where id = '${crashed.id}'`, 0);
  });

  it('reports UNAVAILABLE when a pool is exhausted, and serves calls again when a connection is free', async () => {
    const pool = clients.pool({ connectionLimit: 2 });
    const backend = clients.connect({ pool, requestTimeoutMs: 300 });
    const taken = [await pool.getConnection(), await pool.getConnection()];
    expect(await refusal(backend.open(10_000, signal))).to.include({ code: 'UNAVAILABLE' });
    for (const connection of taken) connection.release();
    const session = await repeatUntilDefinite(() => clients.session(backend), AbortSignal.timeout(WITHIN_MS));
    expect((await session.enqueue(newSpec({ queue: 'exhausted' }))).turn.admitted).to.equal(true);
  }).timeout(WITHIN_MS);
});
