import { isQueueLockError, type Finding } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { queuesIn } from './views.ts';

const LATE_MS = 1_000;
const OLDEST = [6, 2] as const;

/** Checks the server and counts its queues and sessions. The only change that it makes is to end expired sessions. */
export async function diagnose(
  connection: Connection,
  endpoint: string,
  prefix: string,
): Promise<readonly Finding[]> {
  const about = endpoint;
  const server = await serverFindings(connection, about);
  const { found, sessions } = await queuesIn(connection, prefix);
  return [
    ...server,
    ...(await clock(connection, about)),
    {
      level: 'ok',
      about: prefix === '' ? 'queues' : `queues ${prefix}…`,
      text: `${found.length} queues with entries, ${sessions} sessions`,
    },
  ];
}

async function serverFindings({ steps }: Connection, about: string): Promise<readonly Finding[]> {
  try {
    const info = infoOf(String(await steps.ask('INFO')));
    return [version, role, durability, memory].flatMap((findings) => findings(info, about));
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    const text =
      'INFO is not allowed here, so neither its version nor its settings are known: allow it to this user';
    return [{ level: 'warning', about, text }];
  }
}

/** The fields of a reply to `INFO`. */
export type Info = ReadonlyMap<string, string>;

function infoOf(text: string): Info {
  const lines = text.split('\r\n').flatMap((line) => {
    const [, name, value] = /^(\w+):(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return new Map(lines);
}

function version(info: Info, about: string): readonly Finding[] {
  const valkey = info.get('valkey_version');
  const text = info.get('redis_version') ?? '';
  const [major = 0, minor = 0] = text.split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (isOld) return [{ level: 'error', about, text: `Redis ${text} is older than ${OLDEST.join('.')}` }];
  return [{ level: 'ok', about, text: valkey === undefined ? `Redis ${text}` : `Valkey ${valkey}` }];
}

/** Returns findings about the role of the server and about its replicas. */
export function role(info: Info, about: string): readonly Finding[] {
  if (info.get('role') === 'slave')
    return [{ level: 'error', about, text: 'it is a replica: use the primary' }];
  const replicas = Number(info.get('connected_slaves') ?? 0);
  // `min-replicas-to-write` and `min-replicas-max-lag` make the primary refuse writes without an up-to-date
  // replica. INFO contains min_slaves_good_slaves only if both are set. CONFIG would show them too, but users
  // may lack the permission for it.
  const needsReplicas = info.has('min_slaves_good_slaves');
  if (replicas === 0 && !needsReplicas) return [];
  const lag = `it has ${replicas} replicas, which may lag: a failover can forget the last steps, and then two clients hold one lock`;
  const text = needsReplicas
    ? `${lag}; a primary that has lost its replicas refuses heartbeats (min-replicas-to-write), so the earlier hold ends at its deadline; fence what is written`
    : `${lag}; a primary that is replaced and still runs renews the earlier hold without end, since min-replicas-to-write is 0: set min-replicas-to-write 1 and min-replicas-max-lag 10, and fence what is written`;
  return [{ level: 'warning', about, text }];
}

function durability(info: Info, about: string): readonly Finding[] {
  if (info.get('aof_enabled') === '1')
    return [{ level: 'ok', about, text: 'its log is on (appendonly): a restart loses no lock' }];
  const text = 'its log is off: a restart forgets every lock and every queue; set appendonly yes';
  return [{ level: 'warning', about, text }];
}

/** Returns findings about the memory of the server. */
function memory(info: Info, about: string): readonly Finding[] {
  const [used, most] = [Number(info.get('used_memory')), Number(info.get('maxmemory'))];
  if (most > 0 && used > most) {
    const text = `its memory is full (${used} of maxmemory ${most} bytes): sessions and waiters are refused until maxmemory is raised or keys are removed`;
    return [{ level: 'error', about, text }, ...eviction(info, about)];
  }
  return eviction(info, about);
}

function eviction(info: Info, about: string): readonly Finding[] {
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  if (!policy.startsWith('allkeys-')) return [];
  const text = `maxmemory-policy is ${policy}: when its memory is full it evicts locks; set noeviction or one of volatile-*`;
  return [{ level: 'error', about, text }];
}

async function clock({ steps }: Connection, about: string): Promise<readonly Finding[]> {
  const [seconds, micros] = (await steps.ask('TIME')) as readonly string[];
  // eslint-disable-next-line no-restricted-syntax -- only to compare two wall clocks
  const apartMs = Math.abs(Number(seconds) * 1_000 + Number(micros) / 1_000 - Date.now());
  if (apartMs < LATE_MS) return [];
  const text = `its clock is ${Math.round(apartMs)} ms away from this machine's: leases follow its clock, so do not set it while locks are held`;
  return [{ level: 'warning', about, text }];
}
