import { expect } from 'chai';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sharedEtcd, sharedRedis, sharedZooKeeper } from '@queuelock/harness/services';
import { ROOT } from '../pages/scratch.ts';
import { Installation, link, outputOf, type Printed } from './installation.ts';

const ROOT_OF_ETCD = join(ROOT, 'packages/etcd');
const FORMATS = ['esm', 'cjs'] as const;

/** Returns a program that takes a lock twice, and prints the result and the time that it took. */
function program(imports: string, backend: string): string {
  return `
    import { createLockClient } from '@queuelock/core';
    ${imports}
    async function main() {
      const begun = performance.now();
      const locks = createLockClient(${backend});
      try {
        const [first, second] = [await locks.run('bundled', (hold) => hold.token), await locks.run('bundled', (hold) => hold.token)];
        return { grew: second > first };
      } catch (error) {
        return { code: error.code, retryable: error.retryable, message: error.message, ms: performance.now() - begun };
      } finally {
        await locks.close();
      }
    }
    main().then((outcome) => console.log(JSON.stringify(outcome)));
  `;
}

const OVER_ETCD = "import { etcd } from '@queuelock/etcd';";
const OVER_ZOOKEEPER = "import { zookeeper } from '@queuelock/zookeeper';";

describe('packed code, bundled into one file by esbuild', function () {
  this.timeout(120_000);
  let installation: Installation;
  let servers: { readonly ETCD: string; readonly ZOOKEEPER: string };
  const bundles: string[] = [];

  before(async () => {
    const [etcd, zookeeper] = [await sharedEtcd('bundles'), await sharedZooKeeper('bundles')];
    servers = { ETCD: etcd.endpoint, ZOOKEEPER: zookeeper.endpoint };
    installation = await Installation.of(['core', 'etcd', 'zookeeper']);
  });
  after(async () => {
    await Promise.all(bundles.map((file) => rm(dirname(file), { recursive: true })));
    await installation.remove();
  });

  async function outcomeOf(code: string, format: (typeof FORMATS)[number]): Promise<Printed> {
    const bundle = await installation.bundle(code, { format });
    bundles.push(bundle);
    return outputOf(bundle, servers);
  }

  for (const format of FORMATS) {
    it(`takes locks over etcd with the default transport (${format})`, async () => {
      const code = program(OVER_ETCD, 'etcd({ hosts: process.env.ETCD })');
      expect(await outcomeOf(code, format)).to.deep.equal({ grew: true });
    });

    it(`takes locks over ZooKeeper with the default transport (${format})`, async () => {
      const options = '{ hosts: [process.env.ZOOKEEPER], tickTimeMs: 500, syncLimit: 2 }';
      const code = program(OVER_ZOOKEEPER, `zookeeper(${options})`);
      expect(await outcomeOf(code, format)).to.deep.equal({ grew: true });
    });

    for (const [transport, imports, backend] of [
      ['etcd3', OVER_ETCD, "etcd({ hosts: process.env.ETCD, transport: 'etcd3' })"],
      ['native', OVER_ZOOKEEPER, "zookeeper({ hosts: [process.env.ZOOKEEPER], transport: 'native' })"],
    ] as const)
      it(`rejects the transport ${transport} immediately, with an error that is not retryable (${format})`, async () => {
        const { message, ms, ...error } = await outcomeOf(program(imports, backend), format);
        expect(error).to.deep.equal({ code: 'INVALID_ARGUMENT', retryable: false });
        const why = {
          esm: /is not installed where .*: npm install \w+@\d; or .*omit the option transport/,
          cjs: /cannot load/,
        };
        expect(message).to.match(why[format]);
        expect(ms).to.be.lessThan(4_000);
      });
  }

  it('takes locks over npm etcd3 if it is installed beside the bundle', async () => {
    const bundle = await installation.bundle(
      program(OVER_ETCD, "etcd({ hosts: process.env.ETCD, transport: 'etcd3' })"),
      { format: 'esm' },
    );
    bundles.push(bundle);
    await link(dirname(bundle), 'etcd3', ROOT_OF_ETCD);
    expect(await outputOf(bundle, servers)).to.deep.equal({ grew: true });
  });

  it('takes locks over a client of npm etcd3 that the program passes in', async () => {
    const imports = `${OVER_ETCD} import { createRequire } from 'node:module';`;
    const client = "new (createRequire(import.meta.url)('etcd3').Etcd3)({ hosts: process.env.ETCD })";
    const bundle = await installation.bundle(program(imports, `etcd({ client: ${client} })`), {
      format: 'esm',
    });
    bundles.push(bundle);
    await link(dirname(bundle), 'etcd3', ROOT_OF_ETCD);
    expect(await outputOf(bundle, servers)).to.deep.equal({ grew: true });
  });
});

describe('packed code without its optional peers', function () {
  this.timeout(120_000);
  let installation: Installation;
  before(async () => {
    installation = await Installation.of(['core', 'etcd', 'zookeeper']);
  });
  after(() => installation.remove());

  it('compiles although the client libraries are missing', async () => {
    const source = await installation.write(
      'program.mts',
      `${OVER_ETCD}\n${OVER_ZOOKEEPER}\nexport const backends = [etcd({ naming: 'fast' }), zookeeper({ hosts: ['h:2181'] })];\n`,
    );
    expect(await installation.check(source)).to.equal('');
  });
});

describe('packed code over a client library that is CommonJS', function () {
  this.timeout(120_000);
  let installation: Installation;
  let server: string;
  const bundles: string[] = [];

  before(async () => {
    server = (await sharedRedis('bundles')).endpoint;
    installation = await Installation.of(['core', 'redis']);
  });
  after(async () => {
    await Promise.all(bundles.map((file) => rm(dirname(file), { recursive: true })));
    await installation.remove();
  });

  async function bundled(format: 'esm' | 'cjs', external: readonly string[] = []): Promise<string> {
    const imports = "import { redis } from '@queuelock/redis';";
    const code = program(imports, 'redis({ url: `redis://${process.env.REDIS}` })');
    const bundle = await installation.bundle(code, { format, external: [...external] });
    bundles.push(bundle);
    return bundle;
  }

  it('takes locks when everything is bundled into one file of the format cjs', async () => {
    expect(await outputOf(await bundled('cjs'), { REDIS: server })).to.deep.equal({ grew: true });
  });

  it('rejects with an error that states the remedy when bundled into one file of the format esm', async () => {
    const { code, message } = await outputOf(await bundled('esm'), { REDIS: server });
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.match(/npm package redis cannot be loaded .*let a bundler leave it out/);
  });

  it('takes locks when the library is left out of a bundle of the format esm', async () => {
    const bundle = await bundled('esm', ['redis']);
    await link(dirname(bundle), 'redis', join(ROOT, 'packages/redis'));
    expect(await outputOf(bundle, { REDIS: server })).to.deep.equal({ grew: true });
  });
});

describe('packed code with an optional client library', function () {
  this.timeout(120_000);
  let installation: Installation;
  before(async () => {
    installation = await Installation.of(['core', 'postgres', 'mysql']);
  });
  after(() => installation.remove());

  for (const [backend, library] of [
    ['postgres', 'postgres'],
    ['mysql', 'mariadb'],
  ] as const)
    it(`contains a comment that makes webpack leave ${library} out of a bundle of ${backend}`, async () => {
      const file = join(installation.directory, 'node_modules/@queuelock', backend, 'bundle/index.js');
      const imports = [...(await readFile(file, 'utf8')).matchAll(/\bimport\(\s*([^)]*?)\s*\)/g)];
      const ofLibrary = imports
        .map(([, argument = '']) => argument)
        .filter((one) => one.endsWith(`"${library}"`));
      expect(ofLibrary).to.have.length(1);
      expect(ofLibrary[0]).to.include('/* webpackIgnore: true */');
    });
});

describe('packed code whose client library is missing', function () {
  this.timeout(120_000);
  let installation: Installation;
  before(async () => {
    installation = await Installation.of(['core', 'redis', 'postgres', 'mysql']);
  });
  after(() => installation.remove());

  for (const [backend, library, url] of [
    ['redis', 'redis', 'redis://127.0.0.1:1'],
    ['postgres', 'pg', 'postgres://me@127.0.0.1:1/app'],
    ['mysql', 'mysql2', 'mysql://me@127.0.0.1:1/app'],
  ] as const)
    it(`rejects immediately with an error that is not retryable: backend ${backend}`, async () => {
      await rm(join(installation.directory, 'node_modules', library));
      const imports = `import { ${backend} } from '@queuelock/${backend}';`;
      const source = await installation.write(
        `${backend}.mjs`,
        program(imports, `${backend}({ url: '${url}' })`),
      );
      const { message, ms, ...error } = await outputOf(source);
      expect(error).to.deep.equal({ code: 'INVALID_ARGUMENT', retryable: false });
      expect(message).to.match(
        new RegExp(`the npm package ${library} cannot be loaded .*run npm install ${library}`),
      );
      expect(ms).to.be.lessThan(4_000);
    });
});
