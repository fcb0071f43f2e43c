import { expect } from 'chai';
import pg from 'pg';
import { migration } from '@queuelock/postgres';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

describe('a PostgreSQL user of the lock clients', () => {
  const clients = new Clients();

  before(async () => {
    await clients.operator.query('create role app login; revoke create on database postgres from public');
  });

  function asApp(schema: string): string {
    return `${clients.url.replace('postgres@', 'app@')}?schema=${schema}`;
  }

  it('needs no right to create tables when the tables exist', async () => {
    await clients.operator.query(migration({ schema: 'given', role: 'app' }));
    const backend = clients.connect({ url: asApp('given') });
    const session = await clients.session(backend);
    const held = newSpec();
    expect((await session.enqueue(held)).turn.admitted).to.equal(true);
    await session.renew(signal);
    expect(await backend.registers?.write('jobs', 'limit', { text: '3', was: undefined })).to.equal(true);
    await clients.operator.query('select given.tidy()');
    expect(await session.remove('jobs', held.id)).to.equal(true);
  });

  it('needs the right to create missing tables, and the error names the statements to run', async () => {
    const error = await refusal(clients.connect({ url: asApp('nowhere') }).open(10_000, signal));
    expect(error).to.include({ code: 'ACCESS_DENIED' });
    expect(error.message).to.contain("migration({ schema: 'nowhere', role: … })");
  });

  it('needs the right to use the tables, and the error names the missing grant', async () => {
    await clients.operator.query(migration({ schema: 'closed' }));
    const error = await refusal(clients.connect({ url: asApp('closed') }).open(10_000, signal));
    expect(error).to.include({ code: 'ACCESS_DENIED' });
    expect(error.message).to.contain('grant usage on schema closed');
  });

  it('creates no tables when the option migrate is false', async () => {
    const error = await refusal(clients.connect({ schema: 'unmade', migrate: false }).open(10_000, signal));
    expect(error).to.include({ code: 'ACCESS_DENIED' });
    expect(await clients.column("select 1 from pg_namespace where nspname = 'unmade'")).to.deep.equal([]);
  });

  it('creates the tables once when many clients connect at the same time', async () => {
    const backends = Array.from({ length: 8 }, () => clients.connect({ schema: 'rushed' }));
    await Promise.all(backends.map((backend) => clients.session(backend)));
    expect(await clients.column('select count(*)::int from rushed.session')).to.deep.equal([8]);
  });

  it('causes no change to a schema of another program or of a later release of queuelock', async () => {
    await clients.operator.query('create schema theirs; create table theirs.session (mine text)');
    expect(await refusal(clients.connect({ schema: 'theirs' }).open(10_000, signal))).to.include({
      code: 'FOREIGN_FORMAT',
    });
    await clients.operator.query(migration({ schema: 'later' }));
    await clients.operator.query('update later.store set format = 2');
    expect(await refusal(clients.connect({ schema: 'later' }).open(10_000, signal))).to.include({
      code: 'FOREIGN_FORMAT',
    });
  });

  it('is refused with a wrong password, and the error does not contain the password', async () => {
    await clients.operator.query("alter role app password 'right'");
    const url = clients.url.replace('postgres@', 'stranger:secret@');
    const error = await refusal(clients.connect({ url }).open(10_000, signal));
    expect(error).to.include({ code: 'ACCESS_DENIED' });
    expect(error.message).to.not.contain('secret');
  });

  it('can lock over a pool, and gets all pool connections back when the backend is closed', async () => {
    const pool = new pg.Pool({ connectionString: clients.url, max: 2 });
    const backend = clients.connect({ pool });
    const session = await clients.session(backend);
    const held = newSpec();
    await session.enqueue(held);
    await session.renew(signal);
    await session.remove('jobs', held.id);
    await session.close();
    await backend.close();
    // The pool has two connections. This query would wait if the backend had kept both.
    expect(await pool.query('select 1 as one')).to.have.property('rowCount', 1);
    await pool.end();
  });
});
