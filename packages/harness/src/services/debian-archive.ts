import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';
import { NotHere } from './service.ts';

/** A release of Debian on a mirror. */
export interface DebianRelease {
  /** Code name of the release, such as `trixie`. */
  readonly suite: string;
  readonly mirror: string;
}

/** Packages of a release that are to be downloaded and unpacked. */
export interface DebianDownload extends DebianRelease {
  readonly packages: readonly string[];
  /** Whether all dependencies are downloaded as well, libc included. */
  readonly isWithDependencies: boolean;
}

const run = promisify(execFile);
const WITHIN_MS = 300_000;
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Returns the folder into which packages of a Debian release are unpacked. It is below the folder that `QUEUELOCK_CACHE` names; default `~/.cache`.
 */
export function archiveFolder({ suite }: Pick<DebianRelease, 'suite'>): string {
  return join(process.env['QUEUELOCK_CACHE'] ?? join(homedir(), '.cache'), 'queuelock', suite, 'root');
}

/**
 * Downloads packages and unpacks them into a folder. Nothing is installed, and root is not needed. The folder is complete or does not exist.
 * @throws {NotHere} when they cannot be downloaded
 */
export async function downloadInto(root: string, download: DebianDownload): Promise<void> {
  for (const tool of ['apt-get', 'dpkg-deb'])
    if ((await findProgram(tool)) === undefined)
      throw new NotHere(`not downloaded, since there is no ${tool}`);
  await mkdir(dirname(root), { recursive: true });
  const work = await mkdtemp(join(dirname(root), 'download-'));
  try {
    const archives = await fetchArchives(work, download);
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

/** Downloads the .deb files of Debian packages. Returns the folder that contains them. */
async function fetchArchives(
  work: string,
  { packages, isWithDependencies, ...release }: DebianDownload,
): Promise<string> {
  const apt = await aptOf(work, release);
  await apt('update');
  if (isWithDependencies) {
    await apt('install', '-y', '--no-install-recommends', '--download-only', ...packages);
    return join(work, 'cache/archives');
  }
  await apt('download', ...packages);
  return work;
}

/**
 * Returns a function that runs apt-get with its own package lists, and with a state in which no packages are
 * installed. So apt-get selects all packages that a program needs.
 */
async function aptOf(
  work: string,
  { suite, mirror }: DebianRelease,
): Promise<(...args: readonly string[]) => Promise<unknown>> {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'root'])
    await mkdir(join(work, folder), { recursive: true });
  const [sources, status] = [join(work, 'sources.list'), join(work, 'status')];
  await writeFile(sources, `deb [signed-by=${KEYRING}] ${mirror} ${suite} main\n`);
  await writeFile(status, '');
  const options = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '-',
    'Dir::State': work,
    'Dir::State::status': status,
    'Dir::Cache': join(work, 'cache'),
    'Acquire::Languages': 'none',
    // Makes apt-get fail when a mirror refuses a request. By default it would only warn and use older package
    // lists.
    'APT::Update::Error-Mode': 'any',
    'APT::Sandbox::User': '',
  };
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  return (...args) =>
    run('apt-get', [...settings, ...args], { cwd: work, timeout: WITHIN_MS, maxBuffer: 64 * 1024 * 1024 });
}
