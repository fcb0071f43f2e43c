import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  countTests,
  countTitles,
  findingsIn,
  findingsInData,
  hasTest,
  type FeatureData,
} from './features.ts';

const PACKAGES = new URL('../packages/', import.meta.url);

/** Returns the text of a file, by its path relative to the pages. */
function read(path: string): string | undefined {
  const file = fileURLToPath(new URL(path, PACKAGES));
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

describe('features.json', () => {
  const data = JSON.parse(read('features.json') ?? '{}') as FeatureData;

  it('names existing tests for each feature and scenario', () => {
    expect(findingsInData(data, read)).to.deep.equal([]);
    expect(countTests(data)).to.be.at.least(150);
  });
});

describe('the page COMPATIBILITY.md', () => {
  it('names existing tests for each statement', () => {
    const text = read('COMPATIBILITY.md') ?? '';
    expect(findingsIn(text, read)).to.deep.equal([]);
    expect(countTitles(text)).to.be.at.least(60);
  });
});

describe('the reader of features and citations', () => {
  const source = `
    it('reads a sample test', () => {});
    it(\`reads a sample with \${score({ of: us })} games\`, () => {});
    it.skip('reads a skipped sample', () => {});
    fact(
      'reads a sample named "by chance"',
    );
    // it('reads a sample in a comment', () => {});
    const all = { title: 'ends', other: 'begins' };
  `;

  const readGame = (path: string): string | undefined =>
    path.endsWith('test/game.test.ts') ? source : undefined;
  const reading = (evidence: string): string[] =>
    findingsIn(
      `| theirs | tested by |\n| - | - |\n| chess | ${evidence} |\n\n[game]: test/game.test.ts\n`,
      readGame,
    );

  for (const title of [
    'reads a sample test',
    'reads a sample with … games',
    'reads a sample named "by chance"',
    'ends',
  ]) {
    it(`finds a test whose title is written as ${title}`, () => {
      expect(hasTest(source, title)).to.equal(true);
    });
  }

  for (const title of [
    'reads a skipped sample',
    'reads a sample in a comment',
    'begins',
    'reads a sample',
    'reads a sample with games',
    'reads a sample with … game',
    'score',
  ]) {
    it(`finds no test for text that is not a test's title: ${title}`, () => {
      expect(hasTest(source, title)).to.equal(false);
    });
  }

  for (const evidence of [
    '[game] "reads a sample test", "ends"',
    'not tested: no blitz. [game](test/game.test.ts) "reads a sample test"; [game] "reads a sample named \\"by chance\\""',
    '[game] "reads a sample test" without us, see [there](there.md)',
  ]) {
    it(`accepts a citation of tests as evidence: ${evidence}`, () => {
      expect(reading(evidence)).to.deep.equal([]);
    });
  }

  for (const [evidence, finding] of [
    ['see [there](there.md)', /it names no test/],
    ['[game]', /no title follows test\/game.test.ts/],
    ['[game] "reads a sample test", "loses"', /test\/game.test.ts has no test "loses"/],
    ['[gone](test/gone.test.ts) "reads a sample test"', /there is no file test\/gone.test.ts/],
    ['[gone] "reads a sample test"', /\[gone\], which is not defined/],
    ['[game] "reads a sample test"; "ends"', /words in quotes follow no link/],
    ['not tested: not yet', /^\[game\] is defined and not used$/],
  ] as const) {
    it(`rejects a wrong citation of tests as evidence: ${evidence}`, () => {
      expect(reading(evidence).join()).to.match(finding);
    });
  }

  it('rejects a feature whose test is missing, does not exist or runs on another store', () => {
    const tests = { 'core/test/game.test.ts': ['reads a sample test', 'loses'] };
    const data: FeatureData = {
      sections: [
        {
          features: [
            { feature: 'chess', state: 'yes', tests },
            { feature: 'go', state: 'partly' },
            { feature: 'bridge', state: 'no' },
          ],
        },
      ],
      scenarios: [
        { scenario: 'mate', stores: { memory: { tests }, etcd: { tests }, ZooKeeper: { none: 'no board' } } },
      ],
    };
    expect(findingsInData(data, readGame)).to.deep.equal([
      'chess: core/test/game.test.ts has no test "loses"',
      'go: it names no test',
      'mate, memory: core/test/game.test.ts has no test "loses"',
      'mate, etcd: core/test/game.test.ts does not run there',
      'mate, etcd: core/test/game.test.ts has no test "loses"',
    ]);
    expect(countTests(data)).to.equal(6);
  });

  it('reads test titles only from the column `tested by`', () => {
    const page = `
| theirs | on our side | tested by |
| - | - | - |
| "chess" | [rules](rules.py) | [a](test/game.test.ts) "reads a sample test" |
| go | the same | not tested: no board |
| checkers | the same | soon |
| bridge | the same | [a](test/game.test.ts) "loses" |
`;
    expect(findingsIn(page, () => source)).to.deep.equal([
      'checkers, tested by: it names no test, and does not say why there is none',
      'bridge, tested by: test/game.test.ts has no test "loses"',
    ]);
  });
});
