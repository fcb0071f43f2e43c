import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from './child.ts';
import { archiveFolder, downloadInto } from './debian-archive.ts';
import { isPrepared } from './prepared.ts';
import { firstExecutable } from './programs.ts';
import { NotHere } from './service.ts';

/**
 * Programs of Debian 13 (trixie) that tests run in addition to the machine's own versions. Each has the
 * Debian package that contains it.
 */
const PACKAGES = {
  etcd: 'etcd-server',
  'redis-server': 'redis-server',
  'valkey-server': 'valkey-server',
} as const;

/** Name of a program of Debian 13. */
export type TrixieProgram = keyof typeof PACKAGES;

const RELEASE = { suite: 'trixie', mirror: 'http://deb.debian.org/debian' } as const;
const LOADER = /^ld-linux-.*\.so\.\d$/;

/**
 * Returns the command that starts a program of Debian 13. Its packages and dependencies, libc included, are
 * downloaded and unpacked into a cache folder of this user. Nothing is installed, and root is not needed.
 * @throws {NotHere} when they cannot be downloaded, or are absent in a test run that has installed its
 * programs beforehand
 */
export async function trixieCommand(program: TrixieProgram, args: readonly string[]): Promise<Command> {
  const root = archiveFolder(RELEASE);
  const command = await commandIn(root, program);
  if (command === undefined && isPrepared())
    throw new NotHere(`not downloaded before the tests: ${program} of Debian 13`);
  if (command === undefined)
    await downloadInto(root, { ...RELEASE, packages: Object.values(PACKAGES), isWithDependencies: true });
  const { loader, libraries, file } = command ?? (await commandIn(root, program)) ?? missing(program);
  return { program: loader, args: ['--library-path', libraries, file, ...args] };
}

interface Unpacked {
  /** Dynamic linker of Debian 13's libc, which starts the program on a machine with an older libc. */
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

function missing(program: string): never {
  throw new NotHere(`the packages of Debian 13 have no ${program} that runs here`);
}
