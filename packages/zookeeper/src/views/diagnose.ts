import { detailOf, isQueueLockError, type Finding } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { diagnoseQueues } from './diagnose-queues.ts';
import type { Host, Settings } from '../api/options.ts';
import { failureText } from '../server/failure-text.ts';
import { sendFourLetterWord } from '../server/four-letter-words.ts';
import { walk } from './walk.ts';

// The timeout of one four-letter command, such as `srvr`, in milliseconds. Each server gets at most two
// commands.
const WORD_TIMEOUT_MS = 3_000;
const SLOW_MS = 100;

/**
 * Returns findings about the servers, and about the queues whose names begin with a text.
 * @param withSession runs a function with a session. If it cannot connect, the reason becomes a finding, since the findings about the servers may
 *   explain it
 */
export async function diagnose(
  withSession: <T>(read: (zk: ZkDriver) => Promise<T>) => Promise<T>,
  settings: Settings,
  beginning: string,
): Promise<readonly Finding[]> {
  const servers = (await Promise.all(settings.hosts.map((host) => diagnoseServer(host, settings)))).flat();
  try {
    const queues = await withSession(async (zk) =>
      diagnoseQueues(zk, settings, await walk(zk, settings, beginning)),
    );
    return [...servers, ...queues];
  } catch (error) {
    if (!isQueueLockError(error, 'UNAVAILABLE')) throw error;
    return [...servers, { level: 'error', about: settings.endpoint, text: detailOf(error) }];
  }
}

async function diagnoseServer(host: Host, settings: Settings): Promise<readonly Finding[]> {
  const about = `server ${host.name}:${host.port}`;
  try {
    const server = { host: host.name, port: host.port, tls: await settings.tls?.next() };
    const facts = await sendFourLetterWord(server, 'srvr', WORD_TIMEOUT_MS);
    if (facts.size === 0) return [noReply(about)];
    const conf = await sendFourLetterWord(server, 'conf', WORD_TIMEOUT_MS);
    return [...judgeServer(about, facts), ...judgeTicks(about, conf, settings)];
  } catch (error) {
    const failure = error instanceof Error ? failureText(error) : detailOf(error);
    const text = `it does not respond: ${failure}; check that it runs, and the address`;
    return [{ level: 'error', about, text }];
  }
}

function noReply(about: string): Finding {
  const text =
    'it closed the connection without a reply: it is starting or reaches no majority of the servers, or it has maxClientCnxns connections of this address or maxCnxns in all';
  return { level: 'error', about, text };
}

/** Returns findings about a server from its reply to `srvr`. */
export function judgeServer(about: string, facts: ReadonlyMap<string, string>): readonly Finding[] {
  const [version] = /\d+\.\d+\.\d+/.exec(facts.get('Zookeeper version') ?? '') ?? [];
  const mode = facts.get('Mode');
  if (version === undefined || mode === undefined) {
    const text =
      'it does not report its version and mode: it is not ready to serve, or 4lw.commands.whitelist does not contain srvr';
    return [{ level: 'error', about, text }];
  }
  if (mode === 'read-only') {
    const text =
      'it is read-only, since it reaches no majority of the servers: nothing can be locked through it';
    return [{ level: 'error', about, text }];
  }
  const [, , average = '0', longest = '0'] = /(\d+)\/([\d.]+)\/(\d+)/.exec(latencyIn(facts)) ?? [];
  const findings: Finding[] = [
    { level: 'ok', about, text: `ZooKeeper ${version}, ${mode}, responds in ${average} ms on average` },
  ];
  if (Number(average) > SLOW_MS) {
    const text = `it is slow (${longest} ms at most): every hand-off waits for two or three such requests`;
    findings.push({ level: 'warning', about, text });
  }
  return [...findings, ...versionFindings(about, version)];
}

/**
 * Returns the latency of a server: the three numbers on the line `Latency min/avg/max` of its reply.
 */
function latencyIn(facts: ReadonlyMap<string, string>): string {
  return facts.get('Latency min/avg/max') ?? '';
}

function versionFindings(about: string, version: string): readonly Finding[] {
  if (isBefore(version, [3, 5, 3])) {
    const text = `${version} has no container nodes, so no queue can be created: upgrade to 3.5.3 or later`;
    return [{ level: 'error', about, text }];
  }
  if (!isBefore(version, [3, 9, 3])) return [];
  const text = `a member of ${version} may still show an entry after its session has ended (ZOOKEEPER-4541, fixed in 3.9.3), which blocks its queue: remove it with kick if that happens, and upgrade`;
  return [{ level: 'warning', about, text }];
}

function isBefore(version: string, limit: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  const differing = limit.findIndex((part, at) => part !== parts[at]);
  return differing >= 0 && (parts[differing] ?? 0) < (limit[differing] ?? 0);
}

/**
 * Compares the client's settings with those that the server reports to `conf`, since the protocol does not
 * transmit them.
 */
export function judgeTicks(
  about: string,
  conf: ReadonlyMap<string, string>,
  { tickTimeMs, syncLimit }: Pick<Settings, 'tickTimeMs' | 'syncLimit'>,
): readonly Finding[] {
  const tick = conf.get('tickTime');
  if (tick === undefined) {
    const text = `it does not report its tickTime and syncLimit (allow it with 4lw.commands.whitelist=srvr,conf); this client assumes ${tickTimeMs} ms and ${syncLimit}, which is safe only if the real values are not larger`;
    return [{ level: 'warning', about, text }];
  }
  // A single server does not report a syncLimit.
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
