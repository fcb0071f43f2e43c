import { expect } from 'chai';
import { anchorsOf, linksOf, rewriteLinks } from '../.ci/links.ts';
import { repositoryUrl } from '../.ci/repository.ts';
import { onNpm } from '../.ci/tarballs.ts';

describe('the links of a README on npm', () => {
  const written = (page: string): string => onNpm(page, 'packages/core');

  it('lead to the files, folders and headings of the repository', () => {
    const url = repositoryUrl();
    expect(written('[a](PROMISES.md#order) [b](../etcd) [c](src/client.ts)')).to.equal(
      `[a](${url}/blob/main/packages/core/PROMISES.md#order) [b](${url}/tree/main/packages/etcd) [c](${url}/blob/main/packages/core/src/client.ts)`,
    );
  });

  it('point to the raw file of an image, also when the image is inside of a link', () => {
    const raw = repositoryUrl().replace('github.com', 'raw.githubusercontent.com');
    expect(written('[![the packages](../architecture.svg)](../README.md)')).to.equal(
      `[![the packages](${raw}/main/packages/architecture.svg)](${repositoryUrl()}/blob/main/packages/README.md)`,
    );
  });

  it('are not changed when they are web addresses or headings of the same page', () => {
    const page =
      '[a](https://example.org/x.md) [b](#order) <mailto:a@example.org>\n\n[c]: https://example.org\n';
    expect(written(page)).to.equal(page);
  });

  it('are rejected when they lead to no file', () => {
    expect(() => written('[a](no-such-file.md)')).to.throw(/ENOENT.*no-such-file\.md/);
  });
});

describe('the links of a page', () => {
  it('are found in text and definitions, and not in code', () => {
    const page = [
      '[a](one.md#x) `[b](two.md)`',
      '',
      '```md',
      '[c](three.md)',
      '```',
      '',
      '[d]: four.md',
    ].join('\n');
    expect(linksOf(page).map(({ path, anchor }) => path + anchor)).to.deep.equal(['one.md#x', 'four.md']);
  });

  it('are replaced only where the callback returns a replacement', () => {
    expect(
      rewriteLinks('[a](one.md) [b](two.md)', ({ path }) => (path === 'two.md' ? '/two' : undefined)),
    ).to.equal('[a](one.md) [b](/two)');
  });

  it('include the anchors of headings as GitHub writes them, with a number for a repeated heading', () => {
    const page = '# `run` and [more](x.md)\n\n## Who, when?\n\n```sh\n# no heading\n```\n\n## Who, when?\n';
    expect(anchorsOf(page)).to.deep.equal(['run-and-more', 'who-when', 'who-when-1']);
  });
});
