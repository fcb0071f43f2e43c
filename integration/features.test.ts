import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { countTitles, findingsIn, hasTest } from './features.ts';

const PACKAGES = new URL('../packages/', import.meta.url);

/** Returns the text of a file next to the pages. */
function read(path: string): string | undefined {
  const file = fileURLToPath(new URL(path, PACKAGES));
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

for (const [page, least] of [
  ['FEATURES.md', 150],
  ['COMPATIBILITY.md', 60],
] as const) {
  describe(`page ${page}`, () => {
    it('names an existing test for every statement about queuelock', () => {
      const text = read(page) ?? '';
      expect(findingsIn(text, read)).to.deep.equal([]);
      expect(countTitles(text)).to.be.at.least(least);
    });
  });
}

describe('reader of the page of features', () => {
  const source = `
    it('plays', () => {});
    it(\`wins \${score({ of: us })} games\`, () => {});
    it.skip('rests', () => {});
    fact(
      'draws "by chance"',
    );
    // it('dreams', () => {});
    const all = { title: 'ends', other: 'begins' };
  `;

  const reading = (verdict: string): string[] =>
    findingsIn(
      `| Feature | queuelock | Other |\n| - | - | - |\n| chess | ${verdict} | Y |\n\n[game]: test/game.test.ts\n`,
      (path) => (path.endsWith('test/game.test.ts') ? source : undefined),
    );

  for (const title of ['plays', 'wins … games', 'draws "by chance"', 'ends']) {
    it(`finds the title ${title}`, () => {
      expect(hasTest(source, title)).to.equal(true);
    });
  }

  for (const title of ['rests', 'dreams', 'begins', 'play', 'wins games', 'wins … game', 'score']) {
    it(`finds no title ${title}`, () => {
      expect(hasTest(source, title)).to.equal(false);
    });
  }

  for (const verdict of [
    'yes: [game] "plays", "ends"',
    'partly: no blitz. [game](test/game.test.ts) "plays"; [game] "draws \\"by chance\\""',
    'no: [game] "plays" without us, see [there](there.md)',
  ]) {
    it(`accepts ${verdict}`, () => {
      expect(reading(verdict)).to.deep.equal([]);
    });
  }

  for (const [verdict, finding] of [
    ['yes: of course', /chess, queuelock: it names no test/],
    ['partly: see [there](there.md)', /it names no test/],
    ['perhaps', /none of "yes/],
    ['no', /none of "yes/],
    ['yes: [game]', /no title follows test\/game.test.ts/],
    ['yes: [game] "plays", "loses"', /test\/game.test.ts has no test "loses"/],
    ['yes: [gone](test/gone.test.ts) "plays"', /there is no file test\/gone.test.ts/],
    ['yes: [gone] "plays"', /\[gone\], which is not defined/],
    ['yes: [game] "plays"; "ends"', /words in quotes follow no link/],
    ['no: not yet', /^\[game\] is defined and not used$/],
  ] as const) {
    it(`refuses ${verdict}`, () => {
      expect(reading(verdict).join()).to.match(finding);
    });
  }

  it('refuses text for other products, and tests of another store', () => {
    const page = `
| Feature | queuelock | Other |
| - | - | - |
| chess | no: not yet | maybe |

| Scenario | memory | etcd | ZooKeeper |
| - | - | - | - |
| mate | [a](core/test/game.test.ts) "plays" | [a](core/test/game.test.ts) "plays" | n/a: no board |
| stalemate | | [a](zookeeper/test/game.test.ts) "plays" | [a](zookeeper/test/game.test.ts) "plays" |
`;
    expect(findingsIn(page, () => source)).to.deep.equal([
      'chess, Other: "maybe" is none of Y, P, -, n/a, ?',
      'mate, etcd: core/test/game.test.ts does not run there',
      'stalemate, memory: it names no test, and does not say why there is none',
      'stalemate, etcd: zookeeper/test/game.test.ts does not run there',
    ]);
  });

  it('requires tests in the column for them, and nowhere else in that table', () => {
    const page = `
| theirs | on our side | tested by |
| - | - | - |
| "chess" | [rules](rules.py) | [a](test/game.test.ts) "plays" |
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
