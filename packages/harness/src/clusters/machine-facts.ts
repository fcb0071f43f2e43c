import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** The descendants of one process, and their namespaces (Linux). */
export interface Traces {
  /** Process ids of all descendants of the process. */
  readonly pids: readonly number[];
  /** Network and mount namespaces of the descendants, without those that the process itself is in. */
  readonly namespaces: readonly string[];
}

export function tracesOf(pid: number): Traces {
  const pids = descendantsOf(pid);
  const own = namespacesOf(pid);
  const namespaces = new Set(pids.flatMap(namespacesOf).filter((namespace) => !own.includes(namespace)));
  return { pids, namespaces: [...namespaces] };
}

/** Returns all namespaces that any process of the machine is in. */
export function namespacesInUse(): Set<string> {
  return new Set(allPids().flatMap(namespacesOf));
}

/** Returns the named namespaces, links, mounts and packet filters of the machine that this process can see. */
export function sharedTraces(): Record<'names' | 'links' | 'mounts' | 'rules', string[]> {
  return {
    names: linesOf('ip', 'netns', 'list'),
    links: linesOf('ip', '-oneline', 'link', 'show').map((line) => line.split(/:\s/)[1]!),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n'),
    rules: linesOf('iptables-save').filter((line) => !line.startsWith('#') && !/^:.*\[\d/.test(line)),
  };
}

/** Returns the name of the network device through which this machine sends packets to the address. */
export function deviceTo(address: string): string {
  return /dev (\S+)/.exec(linesOf('ip', 'route', 'get', address).join(' '))![1]!;
}

function linesOf(program: string, ...args: string[]): string[] {
  return execFileSync(program, args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

function allPids(): number[] {
  return (quietly(() => readdirSync('/proc')) ?? []).map(Number).filter(Number.isInteger);
}

/** Returns all descendants of a process; none without `/proc`. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map(allPids().map((child) => [child, parentOf(child)]));
  const found = [pid];
  for (const known of found) for (const [child, parent] of parents) if (parent === known) found.push(child);
  return found.slice(1);
}

// Returns the parent of a process. Returns `undefined` if the process ended while `/proc` was being read.
function parentOf(pid: number): number | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function namespacesOf(pid: number): string[] {
  return ['net', 'mnt'].flatMap((kind) => quietly(() => readlinkSync(`/proc/${pid}/ns/${kind}`)) ?? []);
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/**
 * Returns whether the process exists and has not ended. An ended process without a parent may exist as a
 * zombie until init reaps it.
 */
export function runs(pid: number): boolean {
  const state = quietly(() => stateOf(pid));
  return state !== undefined && state !== 'Z';
}

/** Returns the kernel's letter for the state of a process: R runs, S sleeps, T is stopped (proc(5)). */
export function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0]!;
}
