import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildWithConsulApi } from '@queuelock/harness/services/consul-go';
import { installPackages } from '@queuelock/harness/services/install';
import { assertPrepared } from '@queuelock/harness/services/prepared';
import { findProgram, isReadable } from '@queuelock/harness/services/programs';
import { reapAtExit } from '@queuelock/harness/services/reaper';
import { scriptOf } from '@queuelock/harness/services/script';
import { compileJava } from './java.ts';

const run = promisify(execFile);
const OURS = fileURLToPath(new URL('ours.ts', import.meta.url));
const folder = (name: string): string => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** A command line: a program and its first arguments. */
export type CommandLine = readonly [string, ...string[]];

/** The language in which a participant is written. */
export type Language = 'Node' | 'Go' | 'Go, Consul' | 'Java' | 'Python';

/**
 * Returns the command that runs a participant. Builds the program once per process, and installs its
 * dependencies. Rejects with `NotHere` if the language is not available.
 */
export const participants: Readonly<Record<Language, () => Promise<CommandLine>>> = {
  Node: async () => {
    const { script, execArgv } = scriptOf(OURS);
    return [process.execPath, ...execArgv, script];
  },
  Go: once(buildGo),
  'Go, Consul': once(async () => [await buildWithConsulApi(folder('go-consul')), 'participant']),
  Java: once(async () => (await compileJava(folder('java'), await temporary()))('Participant')),
  Python: once(findKazoo),
};

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'queuelock-interop-'));
  reapAtExit({ directory, pid: undefined });
  return directory;
}

// Debian's packages of Go libraries contain sources in a GOPATH, so the programs are built with that path.
const GO_PATH = '/usr/share/gocode';

async function buildGo(): Promise<CommandLine> {
  assertPrepared('Go');
  const packages = [
    ...((await findProgram('go')) ? [] : ['golang-go']),
    ...((await isReadable(`${GO_PATH}/src/go.etcd.io/etcd/clientv3/client.go`))
      ? []
      : ['golang-etcd-server-dev']),
    ...((await findProgram('etcdctl')) ? [] : ['etcd-client']),
  ];
  if (packages.length > 0) await installPackages(packages);
  const program = join(await temporary(), 'participant');
  const env = { ...process.env, GOPATH: GO_PATH, GO111MODULE: 'off', GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  await run('go', ['build', '-o', program, '.'], { cwd: folder('go'), env });
  return [program];
}

// Uses Debian's Python instead of the first one on PATH, because apt-get installs packages only for Debian's.
const PYTHON = '/usr/bin/python3';

async function findKazoo(): Promise<CommandLine> {
  assertPrepared('kazoo');
  const hasKazoo = (): Promise<boolean> =>
    run(PYTHON, ['-c', 'import kazoo']).then(
      () => true,
      () => false,
    );
  if (!(await hasKazoo())) await installPackages(['python3', 'python3-kazoo']);
  return [PYTHON, '-B', join(folder('python'), 'participant.py')];
}
