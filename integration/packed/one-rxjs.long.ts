import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { facts } from '@queuelock/conformance';
import { publicPackages } from '../../.ci/packages.ts';
import { packAll, tarballOf } from '../../.ci/tarballs.ts';
import { runJob, writeProgram } from '../runtimes/run-job.ts';
import { NODE } from '../runtimes/runtimes.ts';
import { outputOf } from './installation.ts';

const run = promisify(execFile);
/** The packages of queuelock that the application installs. */
const PACKAGES = ['core', 'memory', 'recipes'];
/** The packages of queuelock that an application installs to run the conformance suite. */
const WITH_FACTS = ['core', 'memory', 'conformance', 'zookeeper'];

interface PackageManager {
  readonly name: string;
  readonly command: (directory: string) => readonly string[];
  /** Files that the package manager needs, in addition to `package.json`. */
  readonly files?: Readonly<Record<string, string>>;
  /**
   * Returns additional keys for `package.json`, which make queuelock's packages depend on the packed
   * tarballs. An application does not need them once the packages are published.
   */
  readonly manifest: (tarballs: Readonly<Record<string, string>>) => object;
  /** Whether the package manager installs peers that the application does not name. */
  readonly installsPeers: boolean;
}

const MANAGERS: readonly PackageManager[] = [
  {
    name: 'npm',
    command: () => ['npm', 'install', '--no-audit', '--no-fund'],
    manifest: () => ({}),
    installsPeers: true,
  },
  {
    name: 'pnpm',
    command: () => ['npx', '--yes', 'pnpm@10.34.9', 'install'],
    manifest: (overrides) => ({ pnpm: { overrides } }),
    installsPeers: true,
  },
  {
    name: 'yarn 1',
    // Gives each installation a cache of its own, because yarn 1 treats two tarballs of the same version as
    // the same tarball.
    command: (directory) => [
      'npx',
      '--yes',
      'yarn@1.22.22',
      'install',
      '--cache-folder',
      `${directory}/cache`,
    ],
    manifest: (resolutions) => ({ resolutions }),
    installsPeers: false,
  },
  {
    name: 'yarn 4',
    command: () => ['npx', '--yes', '-p', '@yarnpkg/cli-dist@4.9.2', 'yarn', 'install', '--no-immutable'],
    files: { '.yarnrc.yml': 'nodeLinker: node-modules\nenableTelemetry: false\n', 'yarn.lock': '' },
    manifest: (resolutions) => ({ resolutions }),
    installsPeers: false,
  },
];

/**
 * Versions of RxJS that the application may have: the first and the last one of the supported range, and one
 * in between.
 */
const VERSIONS = ['7.2.0', '7.5.7', '7.8.2'];

/**
 * A program that prints from which path each package loads RxJS, and whether the application's RxJS accepts a
 * stream of queuelock.
 */
const PROGRAM = `
  import { realpathSync } from 'node:fs';
  import { createRequire } from 'node:module';
  import { createLockClient } from '@queuelock/core';
  import { memory } from '@queuelock/memory';
  import { underLock } from '@queuelock/recipes';
  const require = createRequire(import.meta.url);
  const from = (name) => realpathSync(createRequire(require.resolve(name)).resolve('rxjs'));
  const copies = new Set(['core', 'memory', 'recipes'].map((name) => from('@queuelock/' + name)));
  const locks = createLockClient(memory());
  const outcome = { token: typeof (await locks.run('job', ({ token }) => token)) };
  try {
    copies.add(realpathSync(require.resolve('rxjs')));
    const rx = await import('rxjs');
    outcome.isInstance = locks.session$ instanceof rx.Observable;
    outcome.isTakenAsItIs = rx.from(locks.session$) === locks.session$;
    outcome.status = typeof (await rx.firstValueFrom(locks.session$)).status;
    outcome.underLock = await rx.firstValueFrom(rx.of(7).pipe(underLock(locks, 'job')));
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
  }
  await locks.close();
  console.log(JSON.stringify({ ...outcome, copies: copies.size }));
`;

const SHARED = {
  token: 'bigint',
  isInstance: true,
  isTakenAsItIs: true,
  status: 'string',
  underLock: 7,
  copies: 1,
};

describe('RxJS beside the packed packages', function () {
  this.timeout(180_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'queuelock-rxjs-'));
    const packages = publicPackages().filter(({ name }) => [...PACKAGES, ...WITH_FACTS].includes(name));
    packAll(packages, folder);
  });
  after(() => rm(folder, { recursive: true }));

  /** Installs an application. Resolves with its directory. */
  async function install(manager: PackageManager, names: readonly string[], rxjs?: string): Promise<string> {
    const files = names.map((name) => [`@queuelock/${name}`, `file:${tarballOf(name, folder)}`]);
    const tarballs = Object.fromEntries(files) as Record<string, string>;
    const directory = await mkdtemp(join(folder, 'application-'));
    const dependencies = { ...tarballs, ...(rxjs === undefined ? {} : { rxjs }) };
    const manifest = { private: true, type: 'module', dependencies, ...manager.manifest(tarballs) };
    const written = { ...manager.files, 'package.json': JSON.stringify(manifest), 'program.mjs': PROGRAM };
    for (const [name, text] of Object.entries(written)) await writeFile(join(directory, name), text);
    const [command = '', ...args] = manager.command(directory);
    await run(command, args, { cwd: directory });
    return directory;
  }

  for (const manager of MANAGERS) {
    for (const version of VERSIONS)
      it(`is installed once and shared with the application: version ${version}, installed with ${manager.name}`, async () => {
        const directory = await install(manager, PACKAGES, version);
        expect(await outputOf(join(directory, 'program.mjs'))).to.deep.equal(SHARED);
      });

    if (manager.installsPeers)
      it(`is installed by ${manager.name} if the application does not name it`, async () => {
        const directory = await install(manager, PACKAGES);
        const { token, copies } = await outputOf(join(directory, 'program.mjs'));
        expect({ token, copies }).to.deep.equal({ token: 'bigint', copies: 1 });
      });
  }

  it('lets the packages pass the conformance suite when its version is 7.2.0', async () => {
    const directory = await install(MANAGERS[0]!, WITH_FACTS, VERSIONS[0]);
    const job = { store: 'memory', ttlMs: 1_500, expiryGranularityMs: 5_000, operator: 'http://127.0.0.1:1' };
    const { outcomes } = await runJob(NODE, await writeProgram(directory), job);
    expect(outcomes.filter(({ failure }) => failure !== undefined)).to.deep.equal([]);
    expect(outcomes).to.have.length(facts.length);
  });
});
