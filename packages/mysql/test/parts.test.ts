import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migration } from '@queuelock/mysql';
import { asQueueLockError, isWorthAgain, numberOf } from '../src/driver/errors.ts';
import { checkName, keyOf, orderIn } from '../src/queue/names.ts';
import type { Settings } from '../src/api/options.ts';
import { Pace } from '../src/server/pace.ts';
import { MysqlRenewer } from '../src/session/renewer.ts';
import { Rounds, pauseOf } from '../src/turn/rounds.ts';
import { literal } from '../src/queue/sql.ts';
import { failover } from '../src/views/diagnose.ts';
import { firsts, mayHold, roundQuery, type Placed } from '../src/turn/waiting.ts';

const latest = { random: () => 0 };

/**
 * Returns an error with the number `errno`, as npm mysql2 and npm mariadb create it for an error of the
 * server.
 */
function refused(errno: number, more: object = {}): Error {
  return Object.assign(new Error(`refused ${errno}`), { errno, sqlState: '42000', ...more });
}

describe('the polling of waiters on MySQL', () => {
  it('is more frequent the fewer entries are ahead, and less frequent the longer nothing changes', () => {
    expect([1, 2, 5, 15, 1_000].map((inFront) => pauseOf(inFront, 0, latest))).to.deep.equal([
      8, 16, 40, 120, 120,
    ]);
    expect([0, 1, 2, 20].map((quiet) => pauseOf(1, quiet, latest))).to.deep.equal([8, 12, 18, 120]);
  });

  it('has jitter, and is never later than its interval', () => {
    for (const random of [0, 0.5, 0.999])
      expect(pauseOf(1, 0, { random: () => random })).to.be.within(6.4, 8);
  });

  it('ends when no entry waits any more', async () => {
    let now = 0;
    const due: { readonly at: number; readonly go: () => void }[] = [];
    const clock = {
      now: () => now,
      random: () => 0,
      after: (ms: number, go: () => void) => {
        const timer = { at: now + ms, go };
        due.push(timer);
        return () => void due.splice(due.indexOf(timer), 1);
      },
    };
    const found = [{ inFront: 1, isQuiet: true }, { inFront: 1, isQuiet: false }, undefined];
    const at: number[] = [];
    const rounds = new Rounds(clock, async () => {
      at.push(now);
      return found[at.length - 1];
    });
    rounds.begin(3);
    rounds.begin(1);
    while (due.length > 0) {
      const [timer] = due.splice(0, 1);
      now = timer!.at;
      timer!.go();
      await new Promise(setImmediate);
    }
    expect(at).to.deep.equal([8, 20, 28]);
  });

  it('finds a waiter that is not admitted although enough permits are free', () => {
    expect(mayHold({ limit: 1, permits: 1 }, 0)).to.equal(true);
    expect(mayHold({ limit: 1, permits: 1 }, 1)).to.equal(false);
    expect(mayHold({ limit: 3, permits: 1 }, 2)).to.equal(true);
    expect(mayHold({ limit: 3, permits: 2 }, 2)).to.equal(false);
  });

  it('counts the entries ahead only for the first waiter of a queue', () => {
    const placed = (queue: string, ord: string): Placed => ({
      queue,
      ord,
      id: ord,
      key: keyOf(queue, ord),
      shared: false,
      limit: 1,
      permits: 1,
      turn: { admitted: false },
      call: 1,
    });
    const crowd = Array.from({ length: 1_000 }, (_, nth) => placed('one', String(nth)));
    expect(firsts(crowd).map(({ ord }) => ord)).to.deep.equal(['0']);
    expect(firsts(crowd.map((each) => placed(each.ord, each.ord)))).to.have.length(16);
    expect(roundQuery(['a'], firsts(crowd)).match(/union all/g)).to.have.length(3);
  });
});

describe('the statements for MySQL', () => {
  it('contain texts as bytes only, so that no text can end a statement', () => {
    expect(literal(`'; drop table queuelock_entry; -- \\`)).to.match(/^x'[0-9a-f]+'$/);
    expect(literal('')).to.equal("x''");
    expect(literal(7n)).to.equal('7');
  });

  it('create the same tables as the script for administrators', () => {
    const file = readFileSync(join('packages', 'mysql', 'migration.sql'), 'utf8');
    expect(file).to.equal(migration);
  });
});

describe('the errors of MySQL', () => {
  const endpoint = 'mysql://h:3306/locks';

  it('make the backend retry a step that conflicts with another step', () => {
    for (const errno of [1213, 1205, 1020]) expect(isWorthAgain(refused(errno))).to.equal(true);
    expect(isWorthAgain(refused(1146))).to.equal(false);
    expect(isWorthAgain(new Error('read ECONNRESET'))).to.equal(false);
  });

  it('have the code of a definite error when a retry cannot succeed', () => {
    const codes = [1045, 1142, 1370, 1049, 1213, 1290].map(
      (errno) => asQueueLockError(refused(errno), endpoint).code,
    );
    expect(codes).to.deep.equal([
      'ACCESS_DENIED',
      'ACCESS_DENIED',
      'ACCESS_DENIED',
      'INVALID_ARGUMENT',
      'UNAVAILABLE',
      'UNAVAILABLE',
    ]);
  });

  it('are not treated as replies to a statement when they end the connection', () => {
    expect(numberOf(refused(1213))).to.equal(1213);
    expect(numberOf(refused(1927, { fatal: true }))).to.equal(undefined);
    expect(numberOf(new Error('Connection lost'))).to.equal(undefined);
  });

  it('state the remedy when the server is a replica', () => {
    expect(asQueueLockError(refused(1290), endpoint).message).to.contain('use the primary');
  });
});

describe('the names of queues on MySQL', () => {
  it('have at most 512 bytes of well-formed UTF-8', () => {
    expect(() => checkName('ä'.repeat(256))).not.to.throw();
    expect(() => checkName('ä'.repeat(257))).to.throw('is at most 512 bytes');
    expect(() => checkName('')).to.throw('at least one character');
    expect(() => checkName('\ud800')).to.throw('well-formed Unicode');
  });

  it('can be read from the keys of their entries', () => {
    expect(orderIn('a/b', keyOf('a/b', '12'))).to.equal('12');
    expect(orderIn('a', 'a/b/12')).to.equal(undefined);
    expect(orderIn('b', 'a/12')).to.equal(undefined);
  });
});

describe('the rate limit of connections to MySQL', () => {
  it('allows at most five attempts a second, and fewer while the attempts fail', () => {
    let now = 0;
    const pace = new Pace({ now: () => now, after: () => () => undefined, random: () => 0 }, 200);
    expect(pace.pauseMs).to.equal(0);
    pace.attempted();
    expect(pace.pauseMs).to.equal(200);
    pace.failed();
    now = 200;
    expect(pace.pauseMs).to.equal(50);
    for (let attempt = 0; attempt < 9; attempt += 1) pace.failed();
    expect(pace.pauseMs).to.equal(2_500);
  });

  it('does not delay connections of a pool, except after a failure', () => {
    let now = 0;
    const pace = new Pace({ now: () => now, after: () => () => undefined, random: () => 0 }, 0);
    pace.attempted();
    pace.succeeded();
    expect(pace.pauseMs).to.equal(0);
    pace.failed();
    expect(pace.pauseMs).to.equal(200);
    now = 1_000;
    pace.attempted();
    pace.succeeded();
    expect(pace.pauseMs).to.equal(0);
  });
});

describe('the diagnosis of the replicas of a MySQL server', () => {
  const texts = (facts: Readonly<Record<string, string>>, replicas = 1): readonly string[] =>
    failover(new Map(Object.entries(facts)), replicas).map(({ level, text }) => `${level}: ${text}`);

  it('has no finding without replicas, or with a semi-synchronous timeout of at least an hour', () => {
    expect(texts({}, 0)).to.deep.equal([]);
    for (const name of ['source', 'master']) {
      const facts = {
        [`rpl_semi_sync_${name}_enabled`]: 'ON',
        [`rpl_semi_sync_${name}_timeout`]: '86400000',
      };
      expect(texts(facts)).to.deep.equal([]);
    }
  });

  it('warns when an old primary may continue to renew a hold', () => {
    expect(texts({ rpl_semi_sync_master_enabled: 'OFF' }).join()).to.match(
      /^warning: it has 1 replicas, .*renews the earlier hold without end/,
    );
    const short = { rpl_semi_sync_source_enabled: 'ON', rpl_semi_sync_source_timeout: '10000' };
    expect(texts(short).join()).to.match(/^warning: .*given up after 10000 ms/);
  });
});

describe('an error of MySQL about a limit or a setting', () => {
  const refused = (errno: number, message = 'refused'): Error =>
    asQueueLockError(Object.assign(new Error(message), { errno, sqlState: 'HY000' }), 'mysql://h/locks');

  it('is not retryable when it is about binlog_format=STATEMENT', () => {
    expect(refused(1665)).to.include({ code: 'INVALID_ARGUMENT', retryable: false });
    expect(refused(1665).message).to.contain('binlog_format is STATEMENT');
  });

  for (const [errno, named] of [
    [1040, 'max_connections'],
    [1129, 'max_connect_errors'],
    [1203, 'max_user_connections'],
    [1226, 'alter user'],
    [1969, 'max_statement_time'],
    [3024, 'max_execution_time'],
    [3159, 'require_secure_transport'],
  ] as const)
    it(`names the setting ${named} when the server sent the error number ${errno}`, () => {
      expect(refused(errno)).to.include({ code: 'UNAVAILABLE', responded: true });
      expect(refused(errno).message).to.contain(named);
    });

  it('names innodb_read_only when a table is read-only', () => {
    expect(refused(1005, '(errno: 165 "Table is read only")').message).to.contain('innodb_read_only');
  });

  it('names no setting when the client library has created the error', () => {
    expect(refused(45_009)).to.include({ responded: false });
  });
});

describe('the heartbeat thread of MySQL', () => {
  it('creates no tables when they are absent', async () => {
    const sent: string[] = [];
    const query = (sql: string): Promise<never> => (sent.push(sql), Promise.reject(refused(1305)));
    const open = async (): Promise<object> => ({ query, destroy: () => undefined });
    const driver = { endpoint: 'mysql://h/locks', open, leastBetweenMs: 0 };
    const settings = { driver, requestTimeoutMs: 500 } as unknown as Settings;
    const renewer = new MysqlRenewer(settings, { id: 's', generation: 1, ttlMs: 5_000 });
    await renewer.renew().catch((error: unknown) => expect(error).to.have.property('code'));
    await renewer.close();
    expect(sent.map((sql) => sql.split('(')[0])).to.deep.equal(['call queuelock_renew']);
  });
});
