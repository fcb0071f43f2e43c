import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Composer, textOfPart, type Sources } from '../src/compose.ts';
import { CHAPTERS, PAGES } from '../src/contents.ts';
import type { Page } from '../src/contents/page.ts';
import { llmsTxt } from '../src/llms.ts';
import { addressOf, pageOf } from '../src/reference.ts';
import { repositorySources } from '../src/sources.ts';

const files: Readonly<Record<string, string>> = {
  'README.md': '# Top\n\n[fence](docs/a.md#the-fence) [code](src/x.ts) ![picture](docs/p.png)\n',
  'docs/a.md':
    '# A\n\nIntroduction.\n\n## One\n\n[two](#two)\n\n## The fence\n\n```sh\n## no heading\n```\n\n## Two\n\n[top](../README.md) [none](b.md)\n',
};
const sources: Sources = {
  read: (file) => files[file] ?? '',
  kindOf: (path) => (path in files || /\.(ts|png)$/.test(path) ? 'file' : 'none'),
  repository: 'https://github.com/someone/queuelock',
  rootFrom: (levels) => '../'.repeat(levels + 3),
};
const page = (route: string, ...parts: Page['parts']): Page => ({
  route,
  title: 'A title',
  about: 'About.',
  parts,
});

describe('the pages of the site', () => {
  it('have links that lead to pages, to headings, or to files of the repository', () => {
    const composer = new Composer(PAGES, repositorySources());
    expect(PAGES.flatMap((one) => composer.compose(one).wrong)).to.deep.equal([]);
  });

  it('have unique addresses, titles and descriptions', () => {
    for (const member of ['route', 'title', 'about'] as const) {
      const values = PAGES.map((one) => one[member]);
      expect(new Set(values).size, member).to.equal(values.length);
    }
  });

  it('include each file of the folder packages/site/pages except index.md', () => {
    const shown = PAGES.flatMap(({ parts }) => parts.map(({ file }) => file));
    const written = readdirSync(join(import.meta.dirname, '../pages')).map((name) => basename(name));
    const hidden = written.filter(
      (name) => name !== 'index.md' && !shown.includes(`packages/site/pages/${name}`),
    );
    expect(hidden).to.deep.equal([]);
  });

  // `EVIDENCE.md` is no page of the site. It is generated, and lists titles of tests.
  it('include the README of each package, and each page in the folder packages', () => {
    const shown = PAGES.flatMap(({ parts }) => parts.map(({ file }) => file));
    const packages = readdirSync('packages', { withFileTypes: true });
    const pages = packages.filter(
      (entry) => entry.isFile() && entry.name.endsWith('.md') && entry.name !== 'EVIDENCE.md',
    );
    const expected = [
      ...packages
        .filter((entry) => entry.isDirectory() && !['harness', 'site'].includes(entry.name))
        .map(({ name }) => `packages/${name}/README.md`),
      ...pages.map(({ name }) => `packages/${name}`),
    ];
    expect(expected.filter((file) => !shown.includes(file))).to.deep.equal([]);
  });

  it('are all listed in llms.txt', () => {
    const list = llmsTxt(CHAPTERS);
    for (const { route, title } of PAGES) expect(list).to.include(`- [${title}](/${route}.md): `);
  });
});

describe('a page built from sections', () => {
  it('has the requested sections in the requested order, and no comments', () => {
    const text = textOfPart({ file: 'docs/a.md', sections: ['Two', 'One'] }, sources.read);
    expect(text.match(/^## .*$/gm)).to.deep.equal(['## Two', '## One']);
  });

  it('omits the sections that are excluded', () => {
    expect(textOfPart({ file: 'docs/a.md', without: ['One', 'Two'] }, sources.read).trimEnd()).to.equal(
      '# A\n\nIntroduction.\n\n## The fence\n\n```sh\n## no heading\n```',
    );
  });

  it('is refused with an error when its file has no section of a requested name', () => {
    expect(() => textOfPart({ file: 'docs/a.md', sections: ['Three'] }, sources.read)).to.throw(
      'docs/a.md has no section "Three"',
    );
  });

  it('links to pages of the site where possible, and otherwise to the repository', () => {
    const pages = [
      page('top', { file: 'README.md' }),
      page('guides/one', { file: 'docs/a.md', sections: ['One'] }),
      page('guides/fence', { file: 'docs/a.md', sections: ['The fence'] }),
    ];
    const { text, wrong } = new Composer(pages, sources).compose(pages[0]!);
    expect(text).to.include('[fence](/guides/fence#the-fence)');
    expect(text).to.include('[code](https://github.com/someone/queuelock/blob/main/src/x.ts)');
    expect(text).to.include('![picture](../../../docs/p.png)');
    expect(wrong).to.deep.equal([]);
  });

  it('reports links whose target does not exist', () => {
    const two = page('two', { file: 'docs/a.md', sections: ['Two'] });
    expect(new Composer([two], sources).compose(two).wrong).to.deep.equal(['docs/a.md: b.md leads nowhere']);
  });
});

describe('the API reference', () => {
  it('shows each entry point by the name under which programs import it', () => {
    expect(
      pageOf(
        'index.md',
        '# queuelock\n\n- [core/src](core/src.md)\n- [core/src/backend](core/src/backend-1.md)\n',
      ),
    ).to.equal(
      '# API reference\n\n- [@queuelock/core](./core.md)\n- [@queuelock/core/backend](./core-backend.md)\n',
    );
  });

  it('has links between its pages that fit the folders of the site', () => {
    expect(pageOf('memory/src.md', '# memory/src\n\n[a](../core/src/backend-1.md#x) [b](#y)\n')).to.equal(
      '# @queuelock/memory\n\n[a](./core-backend.md#x) [b](#y)\n',
    );
  });

  it('removes the number from a link to a heading whose name is unique', () => {
    const hasHeading = (file: string, anchor: string): boolean =>
      file === 'core/src.md' && anchor === 'error';
    expect(pageOf('memory/src.md', '[a](../core/src.md#error-1)\n', hasHeading)).to.equal(
      '[a](./core.md#error)\n',
    );
  });

  it('throws for a file that is not a package entry', () => {
    expect(() => addressOf('core/src/deep/er.md')).to.throw(/no entry of a package/);
  });
});
