import type { Finding } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { queuesIn } from './views.ts';

const LATE_MS = 1_000;
const OLDEST = { MySQL: [8, 0, 2], MariaDB: [10, 6, 0] } as const;

/** Values of the server's global variables, such as `read_only`, by the names of the variables. */
export type Facts = ReadonlyMap<string, string>;

const VARIABLES = [
  'version',
  'read_only',
  'transaction_read_only',
  'tx_read_only',
  'innodb_flush_log_at_trx_commit',
  'sync_binlog',
  'log_bin',
  'binlog_format',
  'innodb_deadlock_detect',
  'wsrep_on',
  // MariaDB and MySQL before 8.0.26 have variable names with `master`. Later MySQL has names with `source`.
  'rpl_semi_sync_master_enabled',
  'rpl_semi_sync_master_timeout',
  'rpl_semi_sync_source_enabled',
  'rpl_semi_sync_source_timeout',
];

// The smallest semi-synchronous timeout, in milliseconds, for which `diagnose` does not warn. After this
// timeout a primary continues without its replicas. A shorter timeout may end before an operator notices that
// the replicas are missing.
const LONG_WAIT_MS = 3_600_000;

/** Checks the server and counts its queues and sessions. Changes nothing. */
export async function diagnose(
  connection: Connection,
  about: string,
  prefix: string,
): Promise<readonly Finding[]> {
  const names = VARIABLES.map((name) => `'${name}'`).join(', ');
  const rows = await connection.steps.read<{ readonly Variable_name: string; readonly Value: string }>(
    `show global variables where variable_name in (${names})`,
  );
  const facts: Facts = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  const [state] = await connection.steps.read<{ readonly now: unknown; readonly sessions: unknown }>(
    `select timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) as now, (select count(*) from queuelock_session) as sessions`,
  );
  const [others] = await connection.steps.read<{ readonly replicas: unknown }>(
    "select count(*) as replicas from information_schema.processlist where command like 'Binlog Dump%'",
  );
  const queues = await queuesIn(connection, prefix);
  const output = [
    version(facts),
    role(facts),
    durability(facts),
    replication(facts),
    failover(facts, Number(others?.replicas)),
    locking(facts),
    clock(Number(state?.now) / 1_000),
  ];
  return [
    ...output.flat().map((finding) => ({ about, ...finding })),
    {
      level: 'ok',
      about: prefix === '' ? 'queues' : `queues ${prefix}…`,
      text: `${queues.length} queues with entries, ${Number(state?.sessions)} sessions`,
    },
  ];
}

type Said = readonly Omit<Finding, 'about'>[];

function version(facts: Facts): Said {
  const text = facts.get('version') ?? '';
  const kind = /mariadb/i.test(text) ? 'MariaDB' : 'MySQL';
  const is = text.split('-')[0] ?? '';
  const older = isOlder(is.split('.').map(Number), OLDEST[kind]);
  if (older) return [{ level: 'error', text: `${kind} ${is} is older than ${OLDEST[kind].join('.')}` }];
  return [{ level: 'ok', text: `${kind} ${is}` }];
}

function isOlder(is: readonly number[], than: readonly number[]): boolean {
  const nth = than.findIndex((number, place) => number !== is[place]);
  return nth !== -1 && (is[nth] ?? 0) < (than[nth] ?? 0);
}

function role(facts: Facts): Said {
  if (isOn(facts.get('read_only'))) return [{ level: 'error', text: 'it is read-only: use the primary' }];
  if (!isOn(facts.get('transaction_read_only')) && !isOn(facts.get('tx_read_only'))) return [];
  const text =
    'transaction_read_only (tx_read_only) is on: locks need transactions that write, so set it to OFF';
  return [{ level: 'error', text }];
}

function durability(facts: Facts): Said {
  const isWritten = facts.get('innodb_flush_log_at_trx_commit') === '1';
  if (isWritten) return [{ level: 'ok', text: 'every commit is on its disk: a restart loses no lock' }];
  const text =
    'innodb_flush_log_at_trx_commit is not 1: a crash of the machine forgets the last second of locks; set 1';
  return [{ level: 'warning', text }];
}

function replication(facts: Facts): Said {
  const output: Omit<Finding, 'about'>[] = [];
  if (isOn(facts.get('log_bin')) && facts.get('binlog_format') === 'STATEMENT')
    output.push({
      level: 'error',
      text: 'binlog_format is STATEMENT, with which no step can run: set MIXED or ROW',
    });
  if (isOn(facts.get('log_bin')) && facts.get('sync_binlog') !== '1')
    output.push({
      level: 'warning',
      text: 'sync_binlog is not 1: after a crash of the machine its replicas may have other locks than this server',
    });
  if (isOn(facts.get('wsrep_on')))
    output.push({
      level: 'warning',
      text: 'it is a node of a Galera cluster: let all clients use one node, whose clock the leases follow',
    });
  return output;
}

/**
 * Returns findings about the steps that a failover to a replica may lose.
 * @param replicas number of replicas; a user without the right `PROCESS` sees none
 */
export function failover(facts: Facts, replicas: number): Said {
  if (replicas === 0) return [];
  const lag = `it has ${replicas} replicas, which may lag: a failover can forget the last steps, and then two clients hold one lock; a primary that is replaced and still runs renews the earlier hold`;
  const remedy = 'stop the old primary before another one is promoted (STONITH), and fence what is written';
  const [enabled, timeout] = ['enabled', 'timeout'].map(
    (name) => facts.get(`rpl_semi_sync_source_${name}`) ?? facts.get(`rpl_semi_sync_master_${name}`),
  );
  if (!isOn(enabled))
    return [{ level: 'warning', text: `${lag} without end; set up semi-synchronous replication, ${remedy}` }];
  if (Number(timeout) >= LONG_WAIT_MS) return [];
  return [
    {
      level: 'warning',
      text: `${lag} once its semi-synchronous replication has given up after ${timeout} ms; set rpl_semi_sync_source_timeout (rpl_semi_sync_master_timeout) to at least ${LONG_WAIT_MS}, ${remedy}`,
    },
  ];
}

function locking(facts: Facts): Said {
  if (facts.get('innodb_deadlock_detect') !== 'OFF') return [];
  return [
    {
      level: 'warning',
      text: 'innodb_deadlock_detect is OFF: a deadlock costs a whole innodb_lock_wait_timeout',
    },
  ];
}

function isOn(value: string | undefined): boolean {
  return value === 'ON' || value === '1';
}

function clock(now: number): Said {
  // eslint-disable-next-line no-restricted-syntax -- only to compare two wall clocks
  const apartMs = Math.abs(now - Date.now());
  if (apartMs < LATE_MS) return [];
  const text = `its clock is ${Math.round(apartMs)} ms away from this machine's: leases follow its clock, so do not set it while locks are held`;
  return [{ level: 'warning', text }];
}
