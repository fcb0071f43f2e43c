import { sharedEtcd } from '@queuelock/harness/services';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publicPackages } from '../../.ci/packages.ts';
import { packAll, tarballOf } from '../../.ci/tarballs.ts';
import { Application } from './application.ts';
import { MISUSES, PROGRAM } from './program.ts';

const PACKAGES = ['core', 'recipes', 'cron', 'memory', 'etcd', 'postgres', 'nestjs'];
/** Major versions of Nest with the matching versions of `@nestjs/schedule`. */
const MAJORS = [
  { nest: '10.4.9', schedule: '6.1.3' },
  { nest: '11.2.10', schedule: '6.1.3' },
  { nest: '12.5.1', schedule: '12.0.2' },
] as const;
const SETUP_MS = 300_000;

const OPTIONS = {
  target: 'es2022',
  strict: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  skipLibCheck: true,
  types: ['node'],
  outDir: 'dist',
};

function install(folder: string, { nest, schedule }: (typeof MAJORS)[number], tarballs: string): void {
  const files = PACKAGES.map((name) => [`@queuelock/${name}`, `file:${tarballOf(name, tarballs)}`] as const);
  const dependencies = {
    ...Object.fromEntries(files),
    '@nestjs/common': nest,
    '@nestjs/core': nest,
    '@nestjs/platform-express': nest,
    '@nestjs/schedule': schedule,
    '@types/node': '20.19.43',
    pg: '8.23.1',
    'reflect-metadata': '0.2.2',
    rxjs: '7.8.2',
    typescript: '5.9.3',
  };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', private: true, dependencies }),
  );
  writeFileSync(join(folder, 'main.ts'), PROGRAM);
  writeFileSync(join(folder, 'misuses.ts'), MISUSES);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
    stdio: 'pipe',
  });
}

function compile(folder: string, resolution: 'node16' | 'bundler'): string {
  const module = resolution === 'node16' ? 'node16' : 'es2022';
  const compilerOptions = { ...OPTIONS, module, moduleResolution: resolution };
  const config = join(folder, `tsconfig.${resolution}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ['main.ts', 'misuses.ts'] }));
  try {
    return String(execFileSync('node_modules/.bin/tsc', ['-p', config], { cwd: folder, stdio: 'pipe' }));
  } catch (error) {
    return String((error as { readonly stdout: Buffer }).stdout);
  }
}

describe('applications of NestJS', () => {
  let root: string;
  const urls = new Map<string, string>();
  let stopPostgres: (() => Promise<void>) | undefined;

  before(async function () {
    this.timeout(SETUP_MS);
    root = mkdtempSync(join(tmpdir(), 'queuelock-nestjs-'));
    packAll(
      publicPackages().filter(({ name }) => PACKAGES.includes(name)),
      root,
    );
    const postgres = await startPostgres();
    stopPostgres = () => postgres.stop();
    urls.set('PostgreSQL', postgresUrl(postgres));
    urls.set('etcd', `etcd://${(await sharedEtcd('applications of NestJS')).endpoint}/nest`);
  });

  after(async function () {
    this.timeout(SETUP_MS);
    await stopPostgres?.();
    rmSync(root, { recursive: true });
  });

  for (const major of MAJORS) {
    describe(`Nest ${major.nest}`, () => {
      let folder: string;

      before(function () {
        this.timeout(SETUP_MS);
        folder = join(root, major.nest);
        mkdirSync(folder);
        install(folder, major, root);
      });

      for (const resolution of ['bundler', 'node16'] as const)
        it(`compiles with legacy decorators under moduleResolution ${resolution}`, () => {
          expect(compile(folder, resolution)).to.equal('');
        }).timeout(SETUP_MS);

      for (const store of ['etcd', 'PostgreSQL'])
        it(`completes its running work on SIGTERM, and another process then takes over at once, on ${store}`, async () => {
          await surviveSigterm(join(folder, 'dist', 'main.js'), urls.get(store)!);
        }).timeout(60_000);
    });
  }
});

/**
 * Starts two processes of the application, which elect a leader. Sends SIGTERM to the leading process while
 * it handles a request.
 */
async function surviveSigterm(script: string, url: string): Promise<void> {
  const one = new Application(script, url);
  await one.until('leads');
  const two = new Application(script, url);
  try {
    const [first, second] = [(await one.until('ready')).url!, (await two.until('ready')).url!];
    const working = fetch(`${first}/book/7`);
    await one.until('begun');
    const waiting = fetch(`${second}/book/7`);
    one.kill('SIGTERM');
    const responses = await Promise.all([working, waiting]);
    expect(await Promise.all(responses.map((response) => response.text()))).to.deep.equal([
      'booked',
      'booked',
    ]);
    await two.until('leads');
    expect(await one.ended).to.deep.equal({ code: null, signal: 'SIGTERM' });
    expect(one.names.filter((name) => ['ended', 'leads no more'].includes(name)).toSorted()).to.deep.equal([
      'ended',
      'leads no more',
    ]);
    const [before, after] = [one.find('ended')!, two.find('begun')!].map(({ token }) => BigInt(token!));
    expect(after! > before!, 'the second holder came after the first').to.equal(true);
    await two.until('tick');
    const ticks = [...one.events, ...two.events].flatMap(({ ev, tick }) => (ev === 'tick' ? [tick] : []));
    expect(ticks, 'each tick in one process').to.deep.equal([...new Set(ticks)]);
    // Forbids errors in the output but allows warnings, because NestJS's scheduler warns of timers that fire
    // late on a busy machine.
    for (const { errors } of [one, two]) expect(errors).not.to.match(/ERROR/);
  } finally {
    for (const each of [one, two]) each.kill('SIGTERM');
    await Promise.all([one.ended, two.ended]);
  }
}
