import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { refusal, signal } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

/**
 * Server settings under which locks work over a URL and over a pool. Each key sets a variable of the server,
 * and its value restores the default.
 */
const HARMLESS: Readonly<Record<string, string>> = {
  'sql_select_limit = 1': 'sql_select_limit = default',
  'sql_safe_updates = 1': 'sql_safe_updates = 0',
  "tx_isolation = 'SERIALIZABLE'": "tx_isolation = 'REPEATABLE-READ'",
  "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'": 'sql_mode = default',
  "time_zone = '+13:00'": "time_zone = 'SYSTEM'",
  'wait_timeout = 1': 'wait_timeout = default',
  'innodb_lock_wait_timeout = 1': 'innodb_lock_wait_timeout = default',
  'max_statement_time = 1': 'max_statement_time = default',
  'group_concat_max_len = 4': 'group_concat_max_len = default',
  'div_precision_increment = 0': 'div_precision_increment = default',
  'sql_auto_is_null = 1': 'sql_auto_is_null = default',
  "collation_server = 'latin1_german2_ci'": 'collation_server = default',
  "lc_messages = 'de_DE'": 'lc_messages = default',
  'net_read_timeout = 1': 'net_read_timeout = default',
  'max_sort_length = 8': 'max_sort_length = default',
  'tmp_table_size = 1024': 'tmp_table_size = default',
  'tmp_memory_table_size = 0': 'tmp_memory_table_size = default',
  "sql_mode = 'EMPTY_STRING_IS_NULL,SIMULTANEOUS_ASSIGNMENT,STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY'":
    'sql_mode = default',
  "sql_mode = 'ORACLE'": 'sql_mode = default',
  "sql_mode = 'MSSQL'": 'sql_mode = default',
  "sql_mode = 'MAXDB'": 'sql_mode = default',
  "sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,HIGH_NOT_PRECEDENCE,IGNORE_SPACE,TIME_ROUND_FRACTIONAL'":
    'sql_mode = default',
  'max_allowed_packet = 1024': 'max_allowed_packet = default',
  "old_mode = 'ZERO_DATE_TIME_CAST,NO_PROGRESS_INFO'": 'old_mode = default',
  'unique_checks = 0': 'unique_checks = 1',
  'max_error_count = 0': 'max_error_count = default',
  'innodb_snapshot_isolation = 1': 'innodb_snapshot_isolation = default',
};

describe('a MariaDB with a global setting', function () {
  this.timeout(60_000);
  const clients = new Clients();

  // Uses a user without administrator rights: a superuser may write even on a server with read_only.
  function asApp(): string {
    return clients.url.replace('root@', 'app@');
  }

  before(async () => {
    await (await clients.session()).close();
    await clients.operator.run("create user app@'127.0.0.1'");
    await clients.operator.run("grant all on locks.* to app@'127.0.0.1'");
  });

  for (const [on, off] of Object.entries(HARMLESS)) {
    for (const kind of ['a URL', 'a pool'] as const)
      it(`grants a lock to two waiters one after the other, under the setting ${on} (connected by ${kind})`, async () => {
        await clients.operator.run(`set global ${on}`);
        try {
          const made = [1, 2, 3].map(() =>
            createLockClient(mysql(kind === 'a URL' ? { url: clients.url } : { pool: clients.pool() })),
          );
          const [first, second, third] = made;
          const hold = await first!.acquire('jobs');
          const waits = [second!, third!].map((client) => client.acquire('jobs', { timeoutMs: 30_000 }));
          await hold.release();
          const next = await Promise.race(waits);
          await next.release();
          for (const granted of await Promise.all(waits)) await granted.release();
          await Promise.all(made.map((client) => client.close()));
        } finally {
          await clients.operator.run(`set global ${off}`);
        }
      });
  }

  /**
   * Server settings that the backend overrides on the connections that it opens. A pool whose connections
   * have such a setting is refused.
   */
  const OVERRIDDEN: Readonly<Record<string, string>> = {
    "completion_type = 'CHAIN'": "completion_type of the connections of pool must be 'NO_CHAIN'",
    "completion_type = 'RELEASE'": "completion_type of the connections of pool must be 'NO_CHAIN'",
    'max_join_size = 1': 'sql_big_selects of the connections of pool must be 1',
    'autocommit = 0': 'autocommit of the connections of pool must be 1',
  };
  for (const [setting, refused] of Object.entries(OVERRIDDEN))
    it(`can be used over a URL, but not over a pool, with the setting ${setting}`, async () => {
      const [name = ''] = setting.split(' ');
      await clients.operator.run(`set global ${setting}`);
      try {
        const { code, message } = await refusal(
          clients.connect({ pool: clients.pool() }).open(10_000, signal),
        );
        expect(code).to.equal('INVALID_ARGUMENT');
        expect(message).to.contain(refused);
        const [one, other] = [1, 2].map(() => createLockClient(mysql({ url: clients.url })));
        const hold = await one!.acquire('jobs');
        const waiting = other!.acquire('jobs', { timeoutMs: 30_000 });
        await hold.release();
        await (await waiting).release();
        await Promise.all([one!.close(), other!.close()]);
      } finally {
        await clients.operator.run(`set global ${name} = default`);
      }
    });

  it('makes the opening of a session fail with an error that names tx_read_only when it is on', async () => {
    await clients.operator.run('set global tx_read_only = 1');
    try {
      const backend = clients.connect();
      const { code, message } = await refusal(backend.open(10_000, signal));
      expect(code).to.equal('UNAVAILABLE');
      expect(message).to.contain('transaction_read_only (tx_read_only) is on');
      const found = await backend.diagnose!('');
      expect(found.filter(({ level }) => level === 'error').map(({ text }) => text)).to.deep.equal([
        'transaction_read_only (tx_read_only) is on: locks need transactions that write, so set it to OFF',
      ]);
    } finally {
      await clients.operator.run('set global tx_read_only = 0');
    }
  });

  it('causes an error that names max_user_connections when a user has reached this limit', async () => {
    await clients.operator.run("alter user app@'127.0.0.1' with max_user_connections 1");
    const [one, other] = [1, 2].map(() =>
      createLockClient(mysql({ url: asApp() }), { connectTimeoutMs: 1_000 }),
    );
    try {
      await one!.tryAcquire('jobs').catch(() => undefined);
      const { message } = await refusal(other!.acquire('jobs'));
      expect(message).to.contain('raise it by alter user').and.not.contain('check that the server runs');
    } finally {
      await clients.operator.run("alter user app@'127.0.0.1' with max_user_connections 0");
      await Promise.all([one!.close(), other!.close()]);
    }
  });

  it('makes the opening of a session fail for an ordinary user when read_only is on', async () => {
    // A superuser may write even on a server with read_only.
    await clients.operator.run('set global read_only = 1');
    try {
      const { message } = await refusal(clients.connect({ url: asApp() }).open(10_000, signal));
      expect(message).to.contain('use the primary');
    } finally {
      await clients.operator.run('set global read_only = 0');
    }
  });
});
