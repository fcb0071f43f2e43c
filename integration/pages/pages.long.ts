import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Etcd3 } from 'etcd3';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { NotHere, type ProcessService } from '@queuelock/harness/services/service';
import { sharedEtcd, sharedRedis, sharedZooKeeper, startEtcd } from '@queuelock/harness/services';
import { endPrograms, runHere } from './program.ts';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';
import { issueCertificates } from '@queuelock/harness/services/certificates';
import { PAGES, ROOT, Scratch, blocksOf, needsServer, type Stage } from './scratch.ts';

const run = promisify(execFile);
/**
 * Modules that programs of the pages import, but that this repository does not install. The type check treats
 * them as `any`.
 */
const NOT_INSTALLED = [
  ...['pino', 'vitest', '@angular/common', '@angular/core', '*/queue.service'],
  ...['@opentelemetry/exporter-prometheus', '*/prisma/client'],
];
const OWN_ETCD = 'Permissions on etcd';

describe('the programs of the documentation pages, on servers', () => {
  const scratch = new Scratch();
  let stage: Stage;
  let database: ProcessService | undefined;

  before(async function () {
    this.timeout(120_000);
    const what = 'pages';
    const [etcd, zookeeper, redis] = [
      await sharedEtcd(what),
      await sharedZooKeeper(what),
      await sharedRedis(what),
    ];
    database = await startPostgres().catch((error: unknown) => {
      if (error instanceof NotHere) return undefined;
      throw error;
    });
    const [key, certificate] = [scratch.path('private'), scratch.path('public')];
    const made = ['-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=me', '-keyout', key, '-out', certificate];
    await run('openssl', ['req', '-x509', ...made]);
    stage = {
      'ca.pem': certificate,
      'me.pem': certificate,
      'me.key': key,
      '127.0.0.1:2379': etcd.endpoint,
      '127.0.0.1:2181': zookeeper.endpoint,
      '127.0.0.1:6379': redis.endpoint,
      ...(database ? { 'postgres://postgres@127.0.0.1:5432/postgres': postgresUrl(database) } : {}),
      // Makes the programs of the pages use the tick time of the test's ZooKeeper server, and a `syncLimit`
      // for a server without followers.
      "chroot: '/locks'": "chroot: '/locks', tickTimeMs: 500, syncLimit: 2",
    };
  });

  after(async () => {
    await endPrograms();
    await database?.stop();
    scratch.remove();
  });

  for (const page of PAGES) {
    const programs = blocksOf(page).filter(
      ({ language, code, file = '' }) =>
        language === 'ts' &&
        needsServer({ code }) &&
        !/username: 'app'|etcds:/.test(code) &&
        // Skips programs with migrations here, since they need migration tools. migrations.long.ts runs them.
        !file.startsWith('migrate-'),
    );
    for (const [at, block] of programs.entries()) {
      it(`run to their end: ${page}, ${block.file ?? `program ${String(at + 1)}`}`, async function () {
        if (block.code.includes('5432') && !database) {
          this['skipReason'] = 'needs PostgreSQL';
          this.skip();
        }
        await runHere(scratch.write(block, stage));
      });
    }
  }

  it('(page PRODUCTION) create a ZooKeeper user that may use the queues', async () => {
    const block = blocksOf('PRODUCTION').find(({ code }) => code.includes('2181'))!;
    expect(await runHere(scratch.write(block, stage))).to.equal('allowed\n');
  });

  it(`(page PRODUCTION) create an etcd user with only the rights that the program needs (section ${OWN_ETCD})`, async () => {
    const server = await startEtcd({ way: 'process' });
    try {
      const blocks = blocksOf('PRODUCTION');
      const commands = blocks.find(({ language }) => language === 'sh')!.code;
      const root = ['etcdctl user add root:root', 'etcdctl user grant-role root root', 'etcdctl auth enable'];
      await run('sh', ['-ec', [commands, 'etcdctl role add root || true', ...root].join('\n')], {
        env: { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: server.endpoint },
      });
      const program = blocks.find(({ code }) => code.includes("username: 'app'") && code.includes('2379'))!;
      const path = scratch.write(program, { '127.0.0.1:2379': server.endpoint });
      expect(await runHere(path)).to.equal('allowed\n');
      const app = new Etcd3({ hosts: server.endpoint, auth: { username: 'app', password: 'secret' } });
      const refused = await app.put('elsewhere').value('x').catch(String);
      app.close();
      expect(refused).to.match(/permission denied/);
    } finally {
      await server.stop();
    }
  });

  it('(page PRODUCTION) take a lock from an etcd that requires the certificates named in the URL', async function () {
    const certificates = await issueCertificates();
    if (!certificates) {
      this['skipReason'] = 'there is no openssl';
      this.skip();
    }
    const server = await startTlsServer(certificates);
    try {
      const { ca, client } = certificates;
      const files: Stage = {
        'ca.pem': scratch.path('ca'),
        'me.pem': scratch.path('cert'),
        'me.key': scratch.path('key'),
      };
      const pems = [ca, client.cert, client.key];
      for (const [at, path] of Object.values(files).entries()) writeFileSync(path, pems[at]!);
      const block = blocksOf('PRODUCTION').find(({ code }) => code.includes('etcds:'))!;
      // Connects to etcd by its host name instead of its address, because Node warns about certificates for
      // addresses.
      const endpoint = server.endpoint.replace('127.0.0.1', 'localhost');
      const program = scratch.write(block, { ...files, '127.0.0.1:2379': endpoint });
      expect(await runHere(program)).to.equal('allowed\n');
    } finally {
      await server.stop();
    }
  });

  it('compile with the strictest options of TypeScript', async function () {
    this.timeout(180_000);
    const pages = ['README.md', ...PAGES].flatMap((page) =>
      blocksOf(page).filter(({ language }) => /^(ts|typescript)$/.test(language)),
    );
    const files = pages.map((block) => scratch.write({ ...block, language: 'ts' }));
    const others = scratch.path('others.d.ts');
    writeFileSync(others, NOT_INSTALLED.map((name) => `declare module '${name}';\n`).join(''));
    files.push(others);
    const config = scratch.path('tsconfig.json');
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2024', 'esnext.disposable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
      customConditions: ['@queuelock/source'],
      paths: { vue: [join(ROOT, 'packages/site/node_modules/vue/dist/vue.d.mts')] },
      allowImportingTsExtensions: true,
    };
    writeFileSync(config, JSON.stringify({ compilerOptions, files }));
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    const { stdout } = await run(compiler, ['-p', config]).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(stdout).to.equal('');
  });
});
