import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CONSUL_RELEASES } from './consul-process.ts';
import { archiveFolder, downloadInto } from './debian-archive.ts';
import { installPackages } from './install.ts';
import { assertPrepared, isPrepared } from './prepared.ts';
import { findProgram, isReadable } from './programs.ts';
import { reapAtExit } from './reaper.ts';
import { NotHere } from './service.ts';

const run = promisify(execFile);

/**
 * Debian packages with the source code of Consul's Go client and of the packages that it imports. The client
 * has the release of the tests' Consul server.
 */
const PACKAGES = [
  'golang-github-hashicorp-consul-dev',
  'golang-github-armon-go-metrics-dev',
  'golang-github-fatih-color-dev',
  'golang-github-hashicorp-go-cleanhttp-dev',
  'golang-github-hashicorp-go-hclog-dev',
  'golang-github-hashicorp-go-immutable-radix-dev',
  'golang-github-hashicorp-go-rootcerts-dev',
  'golang-github-hashicorp-golang-lru-dev',
  'golang-github-hashicorp-serf-dev',
  'golang-github-mattn-go-colorable-dev',
  'golang-github-mattn-go-isatty-dev',
  'golang-github-mitchellh-go-homedir-dev',
  'golang-github-mitchellh-mapstructure-dev',
  'golang-golang-x-sys-dev',
];

/**
 * Compiles a program that uses Consul's Go client. The client's packages of Debian 11 are downloaded and unpacked into a cache folder of this user.
 * @param folder the folder with the source code of the program
 * @returns the path of the program; it is removed when this process ends
 * @throws {NotHere} when there is no Go, or the packages cannot be downloaded
 */
export async function buildWithConsulApi(folder: string): Promise<string> {
  assertPrepared("Consul's Go client");
  if ((await findProgram('go')) === undefined) await installPackages(['golang-go']);
  const gopath = join(await consulSources(), 'usr/share/gocode');
  const directory = await mkdtemp(join(tmpdir(), 'queuelock-go-consul-'));
  reapAtExit({ directory, pid: undefined });
  const program = join(directory, 'program');
  const env = { ...process.env, GOPATH: gopath, GO111MODULE: 'off', GOFLAGS: '', CGO_ENABLED: '0' };
  await run('go', ['build', '-o', program, '.'], { cwd: folder, env });
  return program;
}

async function consulSources(): Promise<string> {
  const failures: string[] = [];
  for (const release of CONSUL_RELEASES) {
    const root = join(dirname(archiveFolder(release)), 'go');
    if (await isReadable(join(root, 'usr/share/gocode/src/github.com/hashicorp/consul/api/lock.go')))
      return root;
    if (isPrepared()) throw new NotHere("Consul's Go client was not downloaded before the tests");
    try {
      await downloadInto(root, { ...release, packages: PACKAGES, isWithDependencies: false });
      return root;
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      failures.push(`${release.mirror}: ${error.message}`);
    }
  }
  throw new NotHere(failures.join('; '));
}
