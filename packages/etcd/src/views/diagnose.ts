import { detailOf, systemClock, type Finding } from '@queuelock/core/backend';
import type { Connection, Endpoint } from '../server/connection.ts';
import { diagnoseKeys, leasesIn } from './diagnose-keys.ts';
import { keysIn, rangeOfText } from './queues.ts';
import { distrust, isTooOld, soundWatchesSince, type MemberFacts } from '../server/read-trust.ts';

/** The cluster, and the part of it to diagnose. */
export interface Examined {
  readonly connection: Connection;
  readonly prefix: string;
  readonly beginning: string;
}

// A stall of a few seconds must not end the lease of a lock.
const SHORT_TTL_S = 5;
const LEASES = 20;
const SLOW_MS = 100;
const QUOTA_BYTES = 2 * 1024 ** 3;

/** Diagnoses the members of a cluster and the keys below a prefix. */
export async function diagnose({ connection, prefix, beginning }: Examined): Promise<readonly Finding[]> {
  const told = await Promise.all(connection.endpoints.map((endpoint) => lookAt(connection, endpoint)));
  const reached = told.filter(({ facts }) => facts !== undefined);
  const findings = [...told.flatMap(({ findings: found }) => found), ...ofCluster(told)];
  if (reached.length === 0) return findings;
  const { keys } = await keysIn(connection, rangeOfText(prefix + beginning));
  const leases = await shortLeases(connection, leasesIn(prefix, keys).slice(0, LEASES));
  return [...findings, ...diagnoseKeys({ prefix, beginning }, keys), ...leases];
}

interface Told {
  readonly host: string;
  readonly facts: MemberFacts | undefined;
  readonly findings: readonly Finding[];
}

async function lookAt(connection: Connection, endpoint: Endpoint): Promise<Told> {
  const { host } = endpoint;
  const about = `member ${host}`;
  const clock = systemClock();
  try {
    // The first request opens the connection, which takes longer than a response.
    await connection.status(endpoint);
    const asked = clock.now();
    const facts = await connection.status(endpoint);
    const tookMs = clock.now() - asked;
    const took = `etcd ${facts.version}, answers in ${tookMs.toFixed(1)} ms`;
    if (isTooOld(facts.version)) {
      const text = `etcd ${facts.version} is older than 3.4, and every client refuses it: upgrade`;
      return { host, facts, findings: [{ level: 'error', about, text }] };
    }
    const findings: Finding[] = [{ level: 'ok', about, text: took }];
    if (tookMs > SLOW_MS)
      findings.push({
        level: 'warning',
        about,
        text: `it is far away or busy: every hand-off takes a few such answers`,
      });
    return {
      host,
      facts,
      findings: [...findings, ...watchBugs(about, facts.version), ...(await size(endpoint))],
    };
  } catch (error) {
    const text = `it does not answer: ${detailOf(error)}; check that it runs, the address, and the credentials`;
    return { host, facts: undefined, findings: [{ level: 'error', about, text }] };
  }
}

async function size({ host, driver }: Endpoint): Promise<readonly Finding[]> {
  const bytes = Number((await driver.status({ withinMs: 5_000 })).dbSize);
  if (bytes < 0.8 * QUOTA_BYTES) return [];
  const mib = Math.round(bytes / 1024 ** 2);
  const text = `its database has ${mib} MiB, and the default quota is 2048: compact and defragment, or nobody can join any more`;
  return [{ level: 'warning', about: `member ${host}`, text }];
}

function ofCluster(told: readonly Told[]): readonly Finding[] {
  const facts = told.flatMap((one) => one.facts ?? []);
  const [first] = facts;
  if (!first) return [];
  const about = 'cluster';
  if (facts.some(({ leader }) => leader === '0'))
    return [
      {
        level: 'error',
        about,
        text: 'a member knows no leader: nobody can join or leave until there is one',
      },
    ];
  const reasons = distrust(first.term, new Map(told.map((one) => [one.host, one.facts])));
  if (reasons.length === 0)
    return [{ level: 'ok', about, text: 'reads can be trusted: heartbeats are proven by a read' }];
  const text = `heartbeats are proven by a write instead of a read, since ${reasons.join('; ')}`;
  return [{ level: 'warning', about, text }];
}

function watchBugs(about: string, version: string): readonly Finding[] {
  const since = soundWatchesSince(version);
  if (since === undefined) return [];
  const text = `watches of ${version} may lose an event after a compaction, and a waiter then looks again some seconds late; upgrade to ${since}`;
  return [{ level: 'warning', about, text }];
}

async function shortLeases(connection: Connection, leases: readonly string[]): Promise<readonly Finding[]> {
  const asked = leases.map(async (ID) => {
    const { grantedTTL } = await connection.call('looking at a lease', (etcd, options) =>
      etcd.leaseTimeToLive({ ID }, options),
    );
    return Number(grantedTTL);
  });
  const short = (await Promise.all(asked)).filter((ttl) => ttl > 0 && ttl < SHORT_TTL_S);
  if (short.length === 0) return [];
  const text = `${short.length} of the ${leases.length} looked at live for less than ${SHORT_TTL_S} s: an election of etcd takes a second or two, so give a longer TTL`;
  return [{ level: 'warning', about: 'leases', text }];
}
