import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from './child.ts';
import { isPrepared } from './prepared.ts';
import { firstExecutable, findProgram } from './programs.ts';
import { NotHere } from './service.ts';

/** Programs of Debian 13 (trixie) that tests run in addition to those of the machine, by their packages. */
const PACKAGES = {
  etcd: 'etcd-server',
  'redis-server': 'redis-server',
  'valkey-server': 'valkey-server',
} as const;

/** Name of a program of Debian 13. */
export type TrixieProgram = keyof typeof PACKAGES;

const run = promisify(execFile);
const WITHIN_MS = 300_000;
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const LOADER = /^ld-linux-.*\.so\.\d$/;

/**
 * Returns the command that starts a program of Debian 13. Its packages and dependencies, libc included, are downloaded and
 * unpacked into a cache folder of this user. Nothing is installed, and root is not needed.
 * @throws {NotHere} when they cannot be downloaded, or were not before a prepared run.
 */
export async function trixieCommand(program: TrixieProgram, args: readonly string[]): Promise<Command> {
  const root = join(cacheFolder(), 'root');
  const command = await commandIn(root, program);
  if (command === undefined && isPrepared())
    throw new NotHere(`not downloaded before the tests: ${program} of Debian 13`);
  if (command === undefined) await download(root);
  const { loader, libraries, file } = command ?? (await commandIn(root, program)) ?? missing(program);
  return { program: loader, args: ['--library-path', libraries, file, ...args] };
}

/** Returns the folder of the programs, below `QUEUELOCK_CACHE`, by default `~/.cache`. */
function cacheFolder(): string {
  return join(process.env['QUEUELOCK_CACHE'] ?? join(homedir(), '.cache'), 'queuelock', 'trixie');
}

interface Unpacked {
  /** Dynamic linker of their libc. */
  readonly loader: string;
  readonly libraries: string;
  readonly file: string;
}

async function commandIn(root: string, program: TrixieProgram): Promise<Unpacked | undefined> {
  const file = await firstExecutable([join(root, 'usr/bin', program)]);
  if (file === undefined) return undefined;
  const [lib64, lib] = await Promise.all([namesIn(join(root, 'usr/lib64')), namesIn(join(root, 'usr/lib'))]);
  const loader = [
    ...lib64.map((name) => join(root, 'usr/lib64', name)),
    ...lib.map((name) => join(root, 'usr/lib', name)),
  ].find((path) => LOADER.test(path.slice(path.lastIndexOf('/') + 1)));
  const folder = lib.find((name) => name.endsWith('-linux-gnu'));
  return loader && folder ? { loader, libraries: join(root, 'usr/lib', folder), file } : undefined;
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Downloads all at once, so that the folder is complete or absent. */
async function download(root: string): Promise<void> {
  for (const tool of ['apt-get', 'dpkg-deb'])
    if ((await findProgram(tool)) === undefined)
      throw new NotHere(`not downloaded, since there is no ${tool}`);
  await mkdir(cacheFolder(), { recursive: true });
  const work = await mkdtemp(join(cacheFolder(), 'download-'));
  try {
    const apt = await aptOf(work);
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', '--download-only', ...Object.values(PACKAGES));
    const archives = join(work, 'cache/archives');
    for (const name of await readdir(archives))
      if (name.endsWith('.deb'))
        await run('dpkg-deb', ['--extract', join(archives, name), join(work, 'root')]);
    await rm(root, { recursive: true, force: true });
    await rename(join(work, 'root'), root);
  } catch (error) {
    const lines = ((error as { stderr?: string }).stderr ?? String(error)).trim().split('\n');
    const reason = lines.find((line) => line.includes('Failed to fetch')) ?? lines.at(-1);
    throw new NotHere(`not downloaded: ${reason ?? ''}`, { cause: error });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns apt-get with its own lists and state, in which nothing is installed. */
async function aptOf(work: string): Promise<(...args: readonly string[]) => Promise<unknown>> {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'root'])
    await mkdir(join(work, folder), { recursive: true });
  const [sources, status] = [join(work, 'sources.list'), join(work, 'status')];
  await writeFile(sources, `deb [signed-by=${KEYRING}] http://deb.debian.org/debian trixie main\n`);
  await writeFile(status, '');
  const options = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '-',
    'Dir::State': work,
    'Dir::State::status': status,
    'Dir::Cache': join(work, 'cache'),
    'Acquire::Languages': 'none',
    // Makes the refusal of a mirror an error, instead of a warning after which older lists are used.
    'APT::Update::Error-Mode': 'any',
    'APT::Sandbox::User': '',
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  return (...args) =>
    run('apt-get', [...settings, ...args], { timeout: WITHIN_MS, maxBuffer: 64 * 1024 * 1024 });
}

function missing(program: string): never {
  throw new NotHere(`the packages of Debian 13 have no ${program} that runs here`);
}
