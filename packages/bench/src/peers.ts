// The client programs in other languages, which use Debian's libraries. Their sources are in ../peers.
// A program is started once for each cell: `program SCENARIO key=value …`, with ETCD=host:port or
// ZK=host:port in its environment. It prints its result as one line of JSON, with times in microseconds, and
// exits with 0. If it fails, it prints the reason to stderr.
// In the scenarios `drain` and `chain` it stops twice, each time until it reads a line or the end of standard
// input. First it prints {"connected":true}: the connection is warm, and the holder holds. Then it prints
// {"ready":true}: all watches are registered and synchronized.
// `warmed` in a result of `free` and `floor` is the number of cycles before the counted ones. Java needs some
// thousands of these. Java's processor time has steps of 10 ms, so `clientCpu` of few hand-offs is coarse.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CommandLine } from '../../../integration/interop/programs.ts';
import { findProgram, isReadable } from '@queuelock/harness/services/programs';
import { NotHere } from '@queuelock/harness/services/service';
import { findJava } from '@queuelock/harness/services/zookeeper-process';
import { floorWords, lockWords, type Client } from './client.ts';

const run = promisify(execFile);

const go = { store: 'etcd', transport: 'Go', command: once(buildGo) } as const;
const java = { store: 'zookeeper', transport: 'Java', command: once(buildJava) } as const;
const python = { store: 'zookeeper', transport: 'kazoo', command: once(findKazoo) } as const;

/**
 * The locks of other languages. The entry before each lock measures the lower bound of its transport. An
 * argument such as 5,000 is the largest number of waiters with which the lock is measured. More waiters would
 * take minutes.
 */
export const peerClients: readonly Client[] = [
  { ...go, kind: 'floor', name: 'floor, Go', words: floorWords('put', 'putdelete') },
  { ...go, kind: 'peer', name: 'Go concurrency.Mutex', words: compiledWords(5_000) },
  { ...java, kind: 'floor', name: 'floor, Java', words: floorWords('create', 'createdelete') },
  { ...java, kind: 'peer', name: 'Curator InterProcessMutex', words: lockWords(5_000) },
  { ...python, kind: 'floor', name: 'floor, kazoo', words: floorWords('create', 'createdelete') },
  { ...python, kind: 'peer', name: 'kazoo Lock', words: lockWords(1_000) },
];

/**
 * Returns the function `words` of a compiled program: it returns the command-line arguments for a cell. A
 * compiled program needs no warm-up, so it runs `free` for the scenario `cold`, and `drain` for
 * `sessions-cold`.
 */
function compiledWords(mostWaiters: number): Client['words'] {
  const standard = lockWords(mostWaiters);
  return (cell, pace) => {
    if (cell.scenario === 'cold') return ['free', 'locks=1', `ms=${pace.ms}`, 'warm=0'];
    if (cell.scenario === 'sessions-cold') return ['drain', `n=${cell.size}`];
    return standard(cell, pace);
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

// --- programs in Go

// Debian's packages of Go libraries contain sources in a GOPATH, so the program is built with that path.
const GO_PATH = '/usr/share/gocode';

async function buildGo(): Promise<CommandLine> {
  await need({
    'golang-go': findProgram('go'),
    'golang-etcd-server-dev': isReadable(`${GO_PATH}/src/go.etcd.io/etcd/clientv3/client.go`),
  });
  const cwd = folder('go');
  const env = { ...process.env, GOPATH: GO_PATH, GO111MODULE: 'off', GOFLAGS: '', CGO_ENABLED: '0' };
  const built = await builtProgram({
    sources: cwd,
    compiler: ['go', 'version'],
    build: (target) => run('go', ['build', '-o', join(target, 'peer'), '.'], { cwd, env }),
  });
  return [join(built, 'peer')];
}

// --- programs in Java

// Jars of Debian's packages that the Java program uses. Their manifests name the further jars that they need.
const JARS = ['curator-recipes', 'curator-framework', 'curator-client', 'zookeeper', 'slf4j-nop'].map(
  (name) => `/usr/share/java/${name}.jar`,
);
// Small stacks for thousands of threads. All other options of Java have their defaults.
const JAVA_OPTIONS = ['-Xss256k'];

async function buildJava(): Promise<CommandLine> {
  await need({
    'default-jdk-headless': findProgram('javac'),
    'libcurator-recipes-java': isReadable(JARS[0] ?? ''),
    'libslf4j-java': isReadable(JARS.at(-1) ?? ''),
  });
  const sources = folder('java');
  const files = (await readdir(sources)).filter((name) => name.endsWith('.java'));
  const classPath = (classes: string): string => [classes, ...JARS].join(delimiter);
  const built = await builtProgram({
    sources,
    compiler: ['javac', '-version'],
    build: (target) => run('javac', ['-cp', classPath(target), '-d', target, ...files], { cwd: sources }),
  });
  return [(await findJava()) ?? 'java', ...JAVA_OPTIONS, '-cp', classPath(built), 'Peer'];
}

// --- programs in Python

// Uses Debian's Python instead of the first one on PATH, because apt-get installs packages only for Debian's.
const PYTHON = '/usr/bin/python3';

async function findKazoo(): Promise<CommandLine> {
  const hasKazoo = run(PYTHON, ['-c', 'import kazoo']).then(
    () => true,
    () => false,
  );
  await need({ 'python3-kazoo': hasKazoo });
  return [PYTHON, '-B', join(folder('python'), 'peer.py')];
}

// --- helpers for the programs of all languages

function folder(language: string): string {
  return fileURLToPath(new URL(`../peers/${language}`, import.meta.url));
}

/** Rejects with the names of the missing Debian packages. */
async function need(
  packages: Readonly<Record<string, Promise<string | boolean | undefined>>>,
): Promise<void> {
  const missing: string[] = [];
  for (const [name, here] of Object.entries(packages)) if (!(await here)) missing.push(name);
  if (missing.length > 0) throw new NotHere(`not installed: apt-get install ${missing.join(' ')}`);
}

interface Program {
  readonly sources: string;
  /** Command that prints the version of the program's compiler. */
  readonly compiler: CommandLine;
  /** Builds the program into the empty directory `target`. */
  readonly build: (target: string) => Promise<unknown>;
}

/** Returns the directory with the built program, rebuilt only when its sources or the compiler have changed. */
async function builtProgram({ sources, compiler, build }: Program): Promise<string> {
  const cache = await ownCache();
  const built = join(cache, await fingerprint(sources, compiler));
  if (await isReadable(built)) return built;
  const fresh = await mkdtemp(join(cache, 'new-'));
  try {
    await build(fresh);
    await rename(fresh, built);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Uses the built program if it exists although this build failed: another process has built it at the
    // same time.
    if (!(await isReadable(built))) throw error;
  }
  return built;
}

/** Returns a directory into which no other user can put programs. */
async function ownCache(): Promise<string> {
  const user = process.getuid?.();
  const cache = join(tmpdir(), `queuelock-bench-${user ?? 'own'}`);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const { uid } = await stat(cache);
  if (user !== undefined && uid !== user)
    throw new Error(`${cache} belongs to somebody else: remove it, or set TMPDIR to another directory`);
  return cache;
}

async function fingerprint(sources: string, [compiler, ...version]: CommandLine): Promise<string> {
  const { stdout, stderr } = await run(compiler, version);
  const hash = createHash('sha256').update(stdout).update(stderr);
  for (const name of (await readdir(sources)).sort())
    hash.update(`\0${name}\0`).update(await readFile(join(sources, name)));
  return hash.digest('hex').slice(0, 16);
}
