import { detailOf, hasResponded, systemClock, type Finding } from '@queuelock/core/backend';
import type { Connection, Endpoint } from '../server/connection.ts';
import { diagnoseKeys, leasesIn } from './diagnose-keys.ts';
import { keysIn, rangeOfText } from './queues.ts';
import {
  distrust,
  isTooOld,
  checkedRevocationsSince,
  soundWatchesSince,
  type MemberFacts,
} from '../server/read-trust.ts';

/** The cluster to diagnose, and the beginning of the keys and queue names to include. */
export interface DiagnosedCluster {
  readonly connection: Connection;
  readonly prefix: string;
  readonly beginning: string;
}

// Minimum TTL of a lease in seconds; shorter ones are reported. A lock should survive when its process stalls for a few seconds.
const SHORT_TTL_S = 5;
const LEASES = 20;
const SLOW_MS = 100;
const QUOTA_BYTES = 2 * 1024 ** 3;
/** The alarms with which a cluster refuses writes, by the text in the status of a member. */
const ALARMS: readonly (readonly [name: string, text: string])[] = [
  [
    'alarm:NOSPACE',
    'its database has reached --quota-backend-bytes (alarm NOSPACE), so no client can enqueue: compact, defragment and disarm the alarm; releases still work',
  ],
  [
    'alarm:CORRUPT',
    'its data differs from that of another member (alarm CORRUPT), so no client can lock: restore the member, and disarm the alarm',
  ],
];

/** Diagnoses the members of a cluster and the keys below a prefix. */
export async function diagnose({
  connection,
  prefix,
  beginning,
}: DiagnosedCluster): Promise<readonly Finding[]> {
  const reports = await Promise.all(
    connection.endpoints.map((endpoint) => diagnoseMember(connection, endpoint)),
  );
  const reached = reports.filter(({ facts }) => facts !== undefined);
  const findings = [...reports.flatMap(({ findings: found }) => found), ...ofCluster(reports)];
  if (reached.length === 0) return findings;
  const { keys } = await keysIn(connection, rangeOfText(prefix + beginning));
  const leases = await shortLeases(connection, leasesIn(prefix, keys).slice(0, LEASES));
  return [...findings, ...diagnoseKeys({ prefix, beginning }, keys), ...leases];
}

interface MemberReport {
  readonly host: string;
  readonly facts: MemberFacts | undefined;
  readonly findings: readonly Finding[];
}

async function diagnoseMember(connection: Connection, endpoint: Endpoint): Promise<MemberReport> {
  const { host } = endpoint;
  const about = `member ${host}`;
  const clock = systemClock();
  try {
    // The first request to the member also opens the connection, so only the second request shows how fast the member responds.
    await connection.status(endpoint);
    const requested = clock.now();
    const facts = await connection.status(endpoint);
    const tookMs = clock.now() - requested;
    const took = `etcd ${facts.version}, responds in ${tookMs.toFixed(1)} ms`;
    if (isTooOld(facts.version)) {
      const text = `etcd ${facts.version} is older than 3.4, and every client refuses it: upgrade`;
      return { host, facts, findings: [{ level: 'error', about, text }] };
    }
    const findings: Finding[] = [{ level: 'ok', about, text: took }];
    if (tookMs > SLOW_MS)
      findings.push({
        level: 'warning',
        about,
        text: `it is far away or busy: every hand-off waits for a few such responses`,
      });
    return {
      host,
      facts,
      findings: [...findings, ...knownBugs(about, facts.version), ...(await storage(endpoint))],
    };
  } catch (error) {
    const remedy = hasResponded(error) ? '' : '; check that it runs, the address, and the credentials';
    const text = `${hasResponded(error) ? 'it refuses' : 'it does not respond'}: ${detailOf(error)}${remedy}`;
    return { host, facts: undefined, findings: [{ level: 'error', about, text }] };
  }
}

async function storage({ host, driver }: Endpoint): Promise<readonly Finding[]> {
  const { dbSize, errors } = await driver.status({ withinMs: 5_000 });
  const alarms = ALARMS.filter(([name]) => errors.some((text) => text.includes(name)));
  if (alarms.length > 0) return alarms.map(([, text]) => ({ level: 'error', about: `member ${host}`, text }));
  const bytes = Number(dbSize);
  if (bytes < 0.8 * QUOTA_BYTES) return [];
  const mib = Math.round(bytes / 1024 ** 2);
  const text = `its database has ${mib} MiB, and the default quota is 2048: compact and defragment, or no client can enqueue any more`;
  return [{ level: 'warning', about: `member ${host}`, text }];
}

function ofCluster(reports: readonly MemberReport[]): readonly Finding[] {
  const facts = reports.flatMap((one) => one.facts ?? []);
  const [first] = facts;
  if (!first) return [];
  const about = 'cluster';
  if (facts.some(({ leader }) => leader === '0'))
    return [
      {
        level: 'error',
        about,
        text: 'a member knows no leader: no client can enqueue or release until there is one',
      },
    ];
  const reasons = distrust(first.term, new Map(reports.map((one) => [one.host, one.facts])));
  if (reasons.length === 0)
    return [{ level: 'ok', about, text: 'reads can be trusted: heartbeats are proven by a read' }];
  const text = `heartbeats are proven by a write instead of a read, since ${reasons.join('; ')}`;
  return [{ level: 'warning', about, text }];
}

function knownBugs(about: string, version: string): readonly Finding[] {
  const bugs = [
    {
      since: soundWatchesSince(version),
      text: `watches of ${version} may lose an event after a compaction, and a waiter then reads the queue some seconds late`,
    },
    {
      since: checkedRevocationsSince(version),
      text: `a leader of ${version} that was blocked or paused, and replaced, ends sessions that are still renewed, and two may hold a lock until the watch reports it`,
    },
  ];
  return bugs.flatMap(({ since, text }) =>
    since === undefined ? [] : { level: 'warning', about, text: `${text}; upgrade to ${since}` },
  );
}

async function shortLeases(connection: Connection, leases: readonly string[]): Promise<readonly Finding[]> {
  const requested = leases.map(async (ID) => {
    const { grantedTTL } = await connection.call('reading a lease', (etcd, options) =>
      etcd.leaseTimeToLive({ ID }, options),
    );
    return Number(grantedTTL);
  });
  const short = (await Promise.all(requested)).filter((ttl) => ttl > 0 && ttl < SHORT_TTL_S);
  if (short.length === 0) return [];
  const text = `${short.length} of the ${leases.length} leases that were read last for less than ${SHORT_TTL_S} s: an election among etcd members lasts a second or two, so set a longer TTL`;
  return [{ level: 'warning', about: 'leases', text }];
}
