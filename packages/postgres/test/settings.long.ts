import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { refusal, signal } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

/** Settings of the user (role) of the backend that do not change the behaviour of locks. */
const HARMLESS = [
  "idle_in_transaction_session_timeout = '100ms'",
  "idle_session_timeout = '1s'",
  "statement_timeout = '1s'",
  'default_transaction_deferrable = on',
  'standard_conforming_strings = off',
  "DateStyle = 'SQL, DMY'",
  "search_path = ''",
  "bytea_output = 'escape'",
  'extra_float_digits = -10',
  "lock_timeout = '1s'",
  "client_encoding = 'LATIN1'",
  "client_min_messages = 'error'",
  "client_min_messages = 'debug5'",
  "TimeZone = 'Pacific/Chatham'",
  "IntervalStyle = 'sql_standard'",
  'row_security = off',
  'array_nulls = off',
  'transform_null_equals = on',
  'synchronous_commit = off',
  "plan_cache_mode = 'force_generic_plan'",
  'enable_indexscan = off',
  "work_mem = '64kB'",
  "jit_above_cost = '0'",
  'quote_all_identifiers = on',
  'from_collapse_limit = 1',
  'check_function_bodies = off',
  "backslash_quote = 'off'",
  "temp_file_limit = '0'",
];

describe('a PostgreSQL with a setting of the role or the server', function () {
  this.timeout(120_000);
  const clients = new Clients();

  before(async () => {
    await (await clients.session()).close();
    await clients.operator.query('create role app login');
    await clients.operator.query('grant usage on schema queuelock to app');
    await clients.operator.query(
      'grant select, insert, update, delete on all tables in schema queuelock to app',
    );
  });
  afterEach(() => clients.operator.query('alter role app reset all'));

  const url = (): string => clients.url.replace('postgres@', 'app@');

  for (const setting of HARMLESS)
    it(`lets one client hand a lock over to another despite ${setting}`, async () => {
      await clients.operator.query(`alter role app set ${setting}`);
      const [one, other] = [1, 2].map(() => createLockClient(postgres({ url: url() })));
      const hold = await one!.acquire('jobs');
      const waiting = other!.acquire('jobs', { timeoutMs: 30_000 });
      await hold.release();
      await (await waiting).release();
      await Promise.all([one!.close(), other!.close()]);
    });

  it('causes an error that names statement_timeout when it is 1 ms', async () => {
    await clients.operator.query('alter role app set statement_timeout = 1');
    const locked = await clients.operator.query('begin; lock table queuelock.session').then(
      () => true,
      () => false,
    );
    expect(locked).to.equal(true);
    try {
      const { code, message } = await refusal(clients.connect({ url: url() }).open(10_000, signal));
      expect(code).to.equal('UNAVAILABLE');
      expect(message).to.contain('statement_timeout ended it');
    } finally {
      await clients.operator.query('rollback');
    }
  });

  it('causes an error that names the connection limit of the role when it is reached', async () => {
    await clients.operator.query('alter role app connection limit 0');
    const client = createLockClient(postgres({ url: url() }), { connectTimeoutMs: 1_000 });
    try {
      const { message } = await refusal(client.acquire('jobs'));
      expect(message).to.contain('connection limit)').and.not.contain('check that the server runs');
    } finally {
      await clients.operator.query('alter role app connection limit -1');
      await client.close();
    }
  });

  it('causes an error that names synchronous_standby_names when no replica is connected', async () => {
    const set = async (names: string): Promise<void> => {
      await clients.operator.query('set synchronous_commit = local');
      await clients.operator.query(`alter system set synchronous_standby_names = '${names}'`);
      await clients.operator.query('select pg_reload_conf()');
      await clients.until("select current_setting('synchronous_standby_names')", names);
    };
    await set('ghost');
    try {
      const backend = clients.connect();
      const { message } = await refusal(backend.open(10_000, signal));
      expect(message).to.contain('synchronous_standby_names');
      const found = await backend.diagnose!('');
      expect(found.map(({ level, text }) => `${level}: ${text}`).join()).to.contain(
        'error: synchronous_standby_names is ghost, and no replica is connected',
      );
    } finally {
      await set('');
    }
  });

  it('causes an error that names default_transaction_read_only when it is on', async () => {
    await clients.operator.query('alter role app set default_transaction_read_only = on');
    const backend = clients.connect({ url: url() });
    const { message } = await refusal(backend.open(10_000, signal));
    expect(message).to.contain('default_transaction_read_only is on');
    const found = await backend.diagnose!('');
    expect(found.map(({ text }) => text).join()).to.contain('default_transaction_read_only is on');
  });
});
