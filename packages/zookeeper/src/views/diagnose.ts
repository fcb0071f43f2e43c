import { detailOf, type Finding } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { diagnoseQueues } from './diagnose-queues.ts';
import type { Host, Settings } from '../api/options.ts';
import { ask } from '../server/server-word.ts';
import { walk } from './walk.ts';

// Each server is asked twice at most.
const WORD_WITHIN_MS = 3_000;
const SLOW_MS = 100;

/** What is to be said about the servers and about the queues whose names begin with a text. */
export async function diagnose(
  zk: ZkDriver,
  settings: Settings,
  beginning: string,
): Promise<readonly Finding[]> {
  const servers = await Promise.all(settings.hosts.map((host) => diagnoseServer(host, settings)));
  const queues = await walk(zk, settings, beginning);
  return [...servers.flat(), ...(await diagnoseQueues(zk, settings, queues))];
}

async function diagnoseServer(host: Host, settings: Settings): Promise<readonly Finding[]> {
  const about = `server ${host.name}:${host.port}`;
  try {
    const server = { host: host.name, port: host.port, tls: await settings.tls?.next() };
    const facts = await ask(server, 'srvr', WORD_WITHIN_MS);
    const conf = await ask(server, 'conf', WORD_WITHIN_MS);
    return [...judgeServer(about, facts), ...judgeTicks(about, conf, settings)];
  } catch (error) {
    const text = `it does not answer: ${detailOf(error)}; check that it runs, and the address`;
    return [{ level: 'error', about, text }];
  }
}

/** By what `srvr` tells. */
export function judgeServer(about: string, facts: ReadonlyMap<string, string>): readonly Finding[] {
  const [version] = /\d+\.\d+\.\d+/.exec(facts.get('Zookeeper version') ?? '') ?? [];
  const mode = facts.get('Mode');
  if (version === undefined || mode === undefined) {
    const text =
      'it does not tell what it is: it is not ready to serve, or the word srvr is not on its list (4lw.commands.whitelist)';
    return [{ level: 'error', about, text }];
  }
  const [, , average = '0', longest = '0'] = /(\d+)\/([\d.]+)\/(\d+)/.exec(latencyIn(facts)) ?? [];
  const findings: Finding[] = [
    { level: 'ok', about, text: `ZooKeeper ${version}, ${mode}, answers in ${average} ms on average` },
  ];
  if (Number(average) > SLOW_MS) {
    const text = `it is slow (${longest} ms at most): every hand-off takes two or three such answers`;
    findings.push({ level: 'warning', about, text });
  }
  return [...findings, ...versionFindings(about, version)];
}

/** Its name in the answer ends with the parts that it has. */
function latencyIn(facts: ReadonlyMap<string, string>): string {
  return facts.get('Latency min/avg/max') ?? '';
}

function versionFindings(about: string, version: string): readonly Finding[] {
  if (isBefore(version, [3, 5, 3])) {
    const text = `${version} has no container nodes, so no queue can be made: upgrade, at least to 3.5.3`;
    return [{ level: 'error', about, text }];
  }
  if (!isBefore(version, [3, 9, 3])) return [];
  const text = `a member of ${version} may go on showing an entry whose session has ended (ZOOKEEPER-4541, fixed in 3.9.3), which holds up its queue: remove it with kick if that happens, and upgrade`;
  return [{ level: 'warning', about, text }];
}

function isBefore(version: string, limit: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const differing = limit.findIndex((part, at) => part !== parts[at]);
  return differing >= 0 && (parts[differing] ?? 0) < (limit[differing] ?? 0);
}

/** The settings of the client go by the servers', and nothing in the protocol tells those. */
export function judgeTicks(
  about: string,
  conf: ReadonlyMap<string, string>,
  { tickTimeMs, syncLimit }: Pick<Settings, 'tickTimeMs' | 'syncLimit'>,
): readonly Finding[] {
  const tick = conf.get('tickTime');
  if (tick === undefined) {
    const text = `it does not tell its tickTime and syncLimit (allow the word conf: 4lw.commands.whitelist=srvr,conf); this client takes ${tickTimeMs} ms and ${syncLimit} for granted, and is right only if they are no larger`;
    return [{ level: 'warning', about, text }];
  }
  // A single server has none.
  const limit = Number(conf.get('syncLimit') ?? 2);
  const safeMs = Math.max(4, limit + 2) * Number(tick);
  const assumedMs = Math.max(4, syncLimit + 2) * tickTimeMs;
  const url = `tickTimeMs=${tick}&syncLimit=${limit}`;
  if (assumedMs < safeMs) {
    const text = `tickTime is ${tick} ms and syncLimit ${limit}: a hold is proven only with a TTL from ${safeMs} ms, and this client accepts ${assumedMs}; write ?${url} into the URL of every client`;
    return [{ level: 'error', about, text }];
  }
  if (assumedMs === safeMs)
    return [{ level: 'ok', about, text: `TTLs from ${safeMs} ms are safe, as this client assumes` }];
  const text = `TTLs from ${safeMs} ms are safe here, and this client refuses less than ${assumedMs}; write ?${url} into the URL for shorter ones`;
  return [{ level: 'warning', about, text }];
}
