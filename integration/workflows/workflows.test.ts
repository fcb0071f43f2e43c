import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARTS } from '../../.ci/suites.ts';
import { ROOT } from '../pages/scratch.ts';
import { commandsIn, matrixOf, pnpmScriptIn, workflowCommands, workflows } from './commands.ts';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly packageManager: string;
  readonly engines: { readonly node: string };
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const OWN_COMMANDS = ['install'];

/**
 * Returns whether pnpm can run `script`: it is a script of the root manifest, a pattern of such scripts, or a
 * command of pnpm.
 */
function exists(script: string): boolean {
  const [, pattern] = /^"\/(.*)\/"$/.exec(script) ?? [];
  if (pattern === undefined) return OWN_COMMANDS.includes(script) || script in manifest.scripts;
  return Object.keys(manifest.scripts).some((name) => new RegExp(pattern).test(name));
}

/**
 * Returns the major versions of Node that `engines` allows. For `^20.19.0 || >=24` these are 20, and 24 with
 * all later ones.
 */
function supportedMajors(): readonly { readonly major: number; readonly andLater: boolean }[] {
  return manifest.engines.node.split('||').map((range) => ({
    major: Number(/\d+/.exec(range)?.[0]),
    andLater: range.includes('>='),
  }));
}

describe('the GitHub workflows of the repository', () => {
  it('run only scripts that exist, with the version of pnpm that package.json names', () => {
    const used = workflowCommands().flatMap(({ text }) => pnpmScriptIn(text) ?? []);
    expect(used).to.have.length.above(8);
    expect(used.filter(({ script }) => !exists(script))).to.deep.equal([]);
    const versions = new Set(used.map(({ version }) => `pnpm@${version}`));
    expect([...versions]).to.deep.equal([manifest.packageManager.replace(/\+.*$/, '')]);
  });

  it('run every part of the long run of tests', () => {
    const parts = matrixOf(workflows().get('ci.yml') ?? '', 'part');
    expect(parts.toSorted()).to.deep.equal([...PARTS].toSorted());
  });

  it('use versions of Node that the packages support, among them the oldest one', () => {
    const text = [...workflows().values()].join('\n');
    const single = [...text.matchAll(/node-version: (\d+)/g)].map(([, version = '']) => version);
    const used = new Set([...single, ...matrixOf(text, 'node')]);
    const supported = supportedMajors();
    const isSupported = (version: number): boolean =>
      supported.some(({ major, andLater }) => version === major || (andLater && version > major));
    expect([...used].filter((version) => !isSupported(Number(version)))).to.deep.equal([]);
    expect([...used].map(Number)).to.include(Math.min(...supported.map(({ major }) => major)));
  });
});

describe('the reader of GitHub workflows', () => {
  it('finds commands in a single line and in a YAML block of several lines', () => {
    const text =
      '  - run: one --two\n  - env:\n      A: b\n    run: |\n      three\n        four\n\n      five\n  - uses: six\n';
    expect(commandsIn(text)).to.deep.equal(['one --two', 'three\n  four\n\nfive']);
  });
});
