import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { mysql } from '@queuelock/mysql';
import { refusal, signal } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

/** Settings with which locks work as usual. */
const HARMLESS: Readonly<Record<string, string>> = {
  'sql_select_limit = 1': 'sql_select_limit = default',
  'sql_safe_updates = 1': 'sql_safe_updates = 0',
  "tx_isolation = 'SERIALIZABLE'": "tx_isolation = 'REPEATABLE-READ'",
  "sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'": 'sql_mode = default',
  "time_zone = '+13:00'": "time_zone = 'SYSTEM'",
};

describe('a MariaDB with a global setting', function () {
  this.timeout(120_000);
  const clients = new Clients();

  // A superuser may write also on a server with read_only.
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
      it(`${on} hands off a lock through two waiters (${kind})`, async () => {
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

  it('autocommit = 0 has no effect over a URL, and a pool with it is refused', async () => {
    await clients.operator.run('set global autocommit = 0');
    try {
      const { code, message } = await refusal(clients.connect({ pool: clients.pool() }).open(10_000, signal));
      expect(code).to.equal('INVALID_ARGUMENT');
      expect(message).to.contain('autocommit of the connections of pool must be on');
      const locks = createLockClient(mysql({ url: clients.url }));
      await (await locks.acquire('jobs')).release();
      await locks.close();
    } finally {
      await clients.operator.run('set global autocommit = 1');
    }
  });

  it('tx_read_only refuses a session, and the error and the diagnosis name the setting', async () => {
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

  it('read_only refuses a session of a user who is no administrator', async () => {
    // A superuser may write on a server with read_only too.
    await clients.operator.run('set global read_only = 1');
    try {
      const { message } = await refusal(clients.connect({ url: asApp() }).open(10_000, signal));
      expect(message).to.contain('use the primary');
    } finally {
      await clients.operator.run('set global read_only = 0');
    }
  });
});
