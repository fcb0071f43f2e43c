import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** What this process and everything that it started has on this machine (Linux). */
export interface Traces {
  /** Descendants. */
  readonly pids: readonly number[];
  /** Network and mount namespaces of descendants that are not those of this process. */
  readonly namespaces: readonly string[];
}

export function tracesOf(pid: number): Traces {
  const pids = descendantsOf(pid);
  const own = namespacesOf(pid);
  const namespaces = new Set(pids.flatMap(namespacesOf).filter((namespace) => !own.includes(namespace)));
  return { pids, namespaces: [...namespaces] };
}

/** All namespaces that any process of the machine is in. */
export function namespacesInUse(): Set<string> {
  return new Set(allPids().flatMap(namespacesOf));
}

/** What everybody sees: named namespaces, links, mounts and packet filters whose name or target is ours. */
export function sharedTraces(): Record<'names' | 'links' | 'mounts' | 'rules', string[]> {
  return {
    names: linesOf('ip', 'netns', 'list'),
    links: linesOf('ip', '-oneline', 'link', 'show').map((line) => line.split(/:\s/)[1]!),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n'),
    rules: linesOf('iptables-save').filter((line) => !line.startsWith('#') && !/^:.*\[\d/.test(line)),
  };
}

/** The device that packets to this address leave by. */
export function deviceTo(address: string): string {
  return /dev (\S+)/.exec(linesOf('ip', 'route', 'get', address).join(' '))![1]!;
}

function linesOf(program: string, ...args: string[]): string[] {
  return execFileSync(program, args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

function allPids(): number[] {
  return (quietly(() => readdirSync('/proc')) ?? []).map(Number).filter(Number.isInteger);
}

/** Whom it has started, and they; nobody where there is no `/proc`. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map(allPids().map((child) => [child, parentOf(child)]));
  const found = [pid];
  for (const known of found) for (const [child, parent] of parents) if (parent === known) found.push(child);
  return found.slice(1);
}

// A process may end between two looks at it.
function parentOf(pid: number): number | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function namespacesOf(pid: number): string[] {
  return ['net', 'mnt'].flatMap((kind) => quietly(() => readlinkSync(`/proc/${pid}/ns/${kind}`)) ?? []);
}

function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Whether it exists and has not ended; an ended orphan may wait for a lazy init to be taken off the list. */
export function runs(pid: number): boolean {
  const state = quietly(() => stateOf(pid));
  return state !== undefined && state !== 'Z';
}

/** The kernel's letter for what a process does: R runs, S sleeps, T is stopped (proc(5)). */
export function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2)[0]!;
}
