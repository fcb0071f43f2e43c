import { expect } from 'chai';
import { repeatUntilDefinite } from '@queuelock/core/backend';
import { faultsOn } from '@queuelock/harness/store-faults';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { postgres } from '@queuelock/postgres';
import { Clients } from './clients.ts';

const WITHIN_MS = 60_000;

describe('PostgreSQL under faults', () => {
  const clients = new Clients();

  faultsOn(() => ({
    server: clients.server,
    urlAt: (endpoint) => clients.url.replace(clients.server.endpoint, endpoint),
    module: import.meta.resolve('@queuelock/postgres'),
    name: 'postgres',
    backend: postgres,
    isStep: (chunk, id) => chunk.includes(id),
    entries: async (queue) =>
      Number((await clients.column('select count(*) from queuelock.entry where queue = $1', queue))[0]),
    forget: async (queue) => {
      await clients.operator.query('delete from queuelock.entry where queue = $1', [queue]);
    },
    reconnect: () => clients.reconnect(),
  }));

  it('leaves no entry when a delayed enqueue arrives after the removal of its entry', async () => {
    const session = await clients.session(clients.connect({ requestTimeoutMs: 400 }));
    const other = await clients.session();
    const wanted = newSpec({ queue: 'late' });
    await other.enqueue(newSpec({ queue: 'late' }));
    // The operator's row lock delays the enqueue in the server. The server continues the enqueue after its
    // client has given up.
    await clients.operator.query('begin');
    await clients.operator.query("select from queuelock.queue where name = 'late' for update");
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await clients.operator.query('commit');
    await repeatUntilDefinite(() => session.remove('late', wanted.id), AbortSignal.timeout(WITHIN_MS));
    await clients.until(
      "select count(*)::int from pg_stat_activity where state = 'active' and query like '%enqueue%' and pid <> pg_backend_pid()",
      0,
    );
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'ENTRY_LOST' });
    await clients.until("select count(*)::int from queuelock.entry where queue = 'late'", 1);
  }).timeout(WITHIN_MS);

  it('reports UNAVAILABLE when a pool is exhausted, and serves calls again when a connection is free', async () => {
    const { pool } = clients.pool({ max: 2 });
    const backend = clients.connect({ pool, requestTimeoutMs: 2_000 });
    const taken = await pool.connect();
    const { code, message } = await refusal(backend.open(10_000, signal));
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.contain('all 2 connections of the pool are in use');
    taken.release();
    const session = await clients.session(backend);
    expect((await session.enqueue(newSpec({ queue: 'exhausted' }))).turn.admitted).to.equal(true);
  }).timeout(WITHIN_MS);
});
