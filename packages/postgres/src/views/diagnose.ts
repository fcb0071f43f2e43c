import { detailOf, isQueueLockError, type Finding } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { queuesIn } from './views.ts';

const LATE_MS = 1_000;
const OLDEST = 120_000;
const LONG_S = 600;

interface Facts {
  readonly version: string;
  readonly number: number;
  readonly replicas: number;
  readonly synchronous: string;
  /** The value of the setting `synchronous_commit` for the user of the backend. */
  readonly commit: string;
  readonly fsync: string;
  readonly readOnly: string;
  readonly now: number;
  /** Age of the oldest open transaction, in seconds. */
  readonly oldest: number | null;
}

const ASK = `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
  (select count(*)::int from pg_stat_replication) as replicas, current_setting('synchronous_standby_names') as synchronous,
  current_setting('synchronous_commit') as commit,
  current_setting('fsync') as fsync, current_setting('default_transaction_read_only') as "readOnly", extract(epoch from clock_timestamp())::float8 * 1000 as now,
  (select extract(epoch from clock_timestamp() - min(xact_start))::float8 from pg_stat_activity
   where backend_type = 'client backend' and datname = current_database()) as oldest`;

/** Checks the server and counts its queues and sessions. It changes nothing, except that it ends expired sessions. */
export async function diagnose(
  connection: Connection,
  about: string,
  prefix: string,
): Promise<readonly Finding[]> {
  const [row] = await connection.steps.ask(ASK);
  const facts = row as unknown as Facts;
  const server = [...findingsOf(facts, about), ...clock(facts.now, about)];
  try {
    await connection.open();
    return [...server, ...listening(connection, about), await queuesFinding(connection, prefix)];
  } catch (error) {
    // Reports an unreachable server as a finding, so that the caller still gets the findings about its
    // settings.
    if (!isQueueLockError(error, 'UNAVAILABLE')) throw error;
    return [...server, { level: 'error', about, text: detailOf(error) }];
  }
}

async function queuesFinding(connection: Connection, prefix: string): Promise<Finding> {
  const { found, sessions } = await queuesIn(connection, prefix);
  return {
    level: 'ok',
    about: prefix === '' ? 'queues' : `queues ${prefix}…`,
    text: `${found.length} queues with entries, ${sessions} sessions`,
  };
}

/** Returns findings about the settings and the state of a server. */
export function findingsOf(facts: Omit<Facts, 'now'>, about: string): readonly Finding[] {
  const { version, number, replicas, synchronous, commit, fsync, readOnly, oldest } = facts;
  const findings: Finding[] = [];
  if (number < OLDEST)
    findings.push({ level: 'error', about, text: `PostgreSQL ${version} is older than 12` });
  else findings.push({ level: 'ok', about, text: `PostgreSQL ${version}` });
  if (replicas > 0 && synchronous === '') {
    const text = `it has ${replicas} replicas, which may lag (synchronous_standby_names is empty): a failover can forget the last steps, and then two clients hold one lock; a primary that is replaced and still runs renews the earlier hold without end; make a replica synchronous, stop the old primary before another one is promoted, and fence what is written`;
    findings.push({ level: 'warning', about, text });
  }
  if (replicas === 0 && synchronous !== '' && !['off', 'local'].includes(commit)) {
    const text = `synchronous_standby_names is ${synchronous}, and no replica is connected: every step waits until one is; connect it, or remove it there`;
    findings.push({ level: 'error', about, text });
  }
  if (readOnly === 'on') {
    const text =
      'default_transaction_read_only is on: locks need transactions that write, so run "alter role … set default_transaction_read_only = off"';
    findings.push({ level: 'error', about, text });
  }
  if (fsync !== 'on') {
    const text = 'fsync is off: after a power failure locks, and all other data, may be lost';
    findings.push({ level: 'error', about, text });
  }
  if ((oldest ?? 0) > LONG_S) {
    const text = `a transaction has been open for ${Math.round(oldest ?? 0)} s: until it ends, the rows of removed entries cannot be vacuumed, and a busy queue gets slower`;
    findings.push({ level: 'warning', about, text });
  }
  return findings;
}

function listening({ isDeaf }: Connection, about: string): readonly Finding[] {
  if (!isDeaf) return [];
  const text =
    'notifications do not arrive here, as behind a pooler in transaction mode: waiters read eight times a second; connect without the pooler for hand-offs without delay';
  return [{ level: 'warning', about, text }];
}

function clock(now: number, about: string): readonly Finding[] {
  // eslint-disable-next-line no-restricted-syntax -- only to compare two wall clocks
  const apartMs = Math.abs(now - Date.now());
  if (apartMs < LATE_MS) return [];
  const text = `its clock is ${Math.round(apartMs)} ms away from this machine's: leases follow its clock, so do not set it while locks are held`;
  return [{ level: 'warning', about, text }];
}
