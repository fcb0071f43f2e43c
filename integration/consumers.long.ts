import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compileConsumer, installConsumer, RESOLUTIONS, type Resolution } from '../.ci/consumer.ts';
import { publicPackages } from '../.ci/packages.ts';
import { packAll } from '../.ci/tarballs.ts';

interface Compiler {
  readonly version: string;
  readonly command: readonly string[];
  /** Module resolutions that this version of TypeScript does not support. */
  readonly lacks?: readonly Resolution[];
  readonly options?: Readonly<Record<string, unknown>>;
  /**
   * For each module resolution, the messages of this TypeScript version about the declarations of third-party
   * packages. The test ignores them, since they appear in any program that imports these packages.
   */
  readonly others?: Readonly<Partial<Record<Resolution, RegExp>>>;
}

const fromNpm = (version: string): readonly string[] => [
  'npx',
  '--yes',
  '-p',
  `typescript@${version}`,
  'tsc',
];
const installed = (name: string): readonly string[] => [resolve('node_modules/.bin', name)];

const COMPILERS: readonly Compiler[] = [
  // etcd3 depends on grpc-js, which contains `import type Long from 'long'`. TypeScript 5.4 mistakes that for
  // the import of a namespace, and reports TS2709.
  { version: '5.4.5', command: fromNpm('5.4.5'), others: { bundler: /@grpc\/grpc-js\/.*TS2709.*'Long'/ } },
  { version: '5.9.3', command: fromNpm('5.9.3') },
  { version: '6.0', command: installed('tsc6'), options: { ignoreDeprecations: '6.0' } },
  { version: '7.0', command: installed('tsc'), lacks: ['node10'] },
];

/** A web page's source: compiled without the types of Node, and with a `lib` that has no AsyncDisposable. */
const PAGE = `
import { createBridgeClient } from '@queuelock/bridge/client';
import { BridgeProvider, useLock } from '@queuelock/react';
function Button() {
  const { lock } = useLock('invoice');
  return <button>{lock ? lock.token : 'Edit'}</button>;
}
export const page = <BridgeProvider client={createBridgeClient()}><Button /></BridgeProvider>;
`;
const OF_PAGE = { lib: ['es2022', 'dom', 'dom.iterable'], types: [], jsx: 'react-jsx' };

describe('the packed packages in a program that sets skipLibCheck to false', () => {
  let folder: string;
  let consumer: string;

  before(function () {
    this.timeout(120_000);
    folder = mkdtempSync(join(tmpdir(), 'queuelock-consumers-'));
    consumer = join(folder, 'consumer');
    mkdirSync(consumer);
    packAll(publicPackages(), folder);
    installConsumer(consumer, folder, publicPackages());
  });

  after(() => {
    rmSync(folder, { recursive: true });
  });

  for (const { version, command, lacks = [], options = {}, others = {} } of COMPILERS) {
    for (const resolution of RESOLUTIONS.filter((one) => !lacks.includes(one))) {
      it(`compile with TypeScript ${version} and moduleResolution ${resolution}`, () => {
        const messages = compileConsumer(consumer, command, resolution, options);
        const expected = others[resolution];
        expect(messages.filter((message) => !expected?.test(message)).join('\n')).to.equal('');
      }).timeout(180_000);
    }
  }

  for (const { version, command, options = {} } of COMPILERS)
    it(`compile in a browser page with TypeScript ${version}`, () => {
      writeFileSync(join(consumer, 'page.tsx'), PAGE);
      const messages = compileConsumer(consumer, command, 'bundler', { ...options, ...OF_PAGE }, 'page.tsx');
      expect(messages.join('\n')).to.equal('');
    }).timeout(180_000);

  it('can be imported and required in Node by the name of each entry point', () => {
    const doors = publicPackages().flatMap(({ name, doors: subpaths }) =>
      subpaths.map(([subpath]) => join('@queuelock', name, subpath)),
    );
    // Leaves out the conformance suite, since it runs only inside of a test runner.
    const names = JSON.stringify(doors.filter((door) => !door.endsWith('/conformance')));
    const imports = `for (const name of ${names}) await import(name);`;
    execFileSync(process.execPath, ['--input-type=module', '-e', imports], { cwd: consumer, stdio: 'pipe' });
    const requires = `for (const name of ${names}) require(name);`;
    execFileSync(process.execPath, ['--input-type=commonjs', '-e', requires], {
      cwd: consumer,
      stdio: 'pipe',
    });
  }).timeout(60_000);
});
