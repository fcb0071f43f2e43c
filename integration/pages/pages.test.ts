import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchorsOf, linksOf, type Link } from '../../.ci/links.ts';
import { QueueLockError, type QueueLockErrorCode } from '@queuelock/core';
import { Program, endPrograms, runHere } from './program.ts';
import type { CodeBlock } from './code-blocks.ts';
import { PAGES, ROOT, Scratch, blocksOf, needsServer, textOf, type Stage } from './scratch.ts';

const PROGRAM = /^(ts|js)$/;
/**
 * Matches a program that sends itself a signal. Such a program needs a separate process: in this process,
 * handlers of other programs would receive the signal too, and end the process.
 */
const SIGNALS_ITSELF = /process\.kill\(process\.pid/;

/**
 * Returns whether another test runs the program. That applies to programs with a file name, except in
 * Markdown pages of the website.
 */
function isAskedElsewhere(page: string, { file }: CodeBlock): boolean {
  return file !== undefined && !page.endsWith('.md');
}

/** Runs a program to its end in a separate process. Resolves with its output. */
async function runAlone(file: string): Promise<string> {
  const program = new Program(file);
  expect(await program.end(), program.stderr).to.deep.equal({ code: 0, signal: null });
  return program.output;
}

describe('the programs of the documentation pages', () => {
  let scratch: Scratch;

  beforeEach(() => {
    scratch = new Scratch();
  });

  afterEach(async () => {
    await endPrograms();
    scratch.remove();
  });

  /** Makes the program use a file in the scratch directory instead of `locks.db`. */
  const stage = (): Stage => {
    return { 'locks.db': scratch.path('locks.db') };
  };

  for (const page of PAGES) {
    const programs = blocksOf(page).filter(
      (block) => PROGRAM.test(block.language) && !isAskedElsewhere(page, block) && !needsServer(block),
    );
    for (const [at, block] of programs.entries()) {
      it(`run to their end: ${page}, program ${String(at + 1)}`, async () => {
        const file = scratch.write(block, stage());
        const printed = SIGNALS_ITSELF.test(block.code) ? await runAlone(file) : await runHere(file);
        if (block.prints !== undefined) expect(printed).to.equal(block.prints);
      });
    }
  }

  it('end on SIGTERM after the current round of their work (worker.ts of the page PRODUCTION)', async () => {
    const block = blocksOf('PRODUCTION').find(({ file }) => file === 'worker.ts')!;
    const worker = new Program(scratch.write(block, { ...stage(), '1_000': '60_000' }));
    await worker.until(/one round/);
    expect(await worker.end('SIGTERM')).to.deep.equal({ code: null, signal: 'SIGTERM' });
    expect(worker.stderr).to.equal('');
    const graceS = Number(/terminationGracePeriodSeconds: (\d+)/.exec(textOf('PRODUCTION'))![1]);
    const drainMs = Number(/drainMs: ([\d_]+)/.exec(block.code)![1]!.replaceAll('_', ''));
    expect(graceS * 1_000).to.be.at.least(drainMs + 2_000);
  });

  it('run in two processes, one after another, without a server (first example of the README)', async () => {
    const [example] = blocksOf('README.md');
    const file = scratch.write({ ...example!, file: 'first.ts' }, stage());
    const [one, two] = [new Program(file), new Program(file)];
    expect([await one.end(), await two.end()]).to.deep.equal(Array(2).fill({ code: 0, signal: null }));
    const tokens = [one, two].map(({ output }) => /token (\d+)/.exec(output)![1]);
    expect(new Set(tokens).size).to.equal(2);
    expect(one.stderr + two.stderr).to.equal('');
  });
});

describe('the page of errors, TROUBLESHOOTING.md', () => {
  /** Returns the rows of the page's table below a heading, by their first cells. */
  const rowsUnder = (heading: string): Map<string, readonly string[]> => {
    const section = textOf('TROUBLESHOOTING').split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
    const rows = [...section.matchAll(/^\| `([\w-]+)` *\|(.*)\|$/gm)];
    return new Map(rows.map(([, name, cells]) => [name!, cells!.split('|').map((cell) => cell.trim())]));
  };
  const namesIn = (type: string): string[] => {
    const source = readFileSync(join(ROOT, 'packages/core/src/api/errors.ts'), 'utf8');
    const union = new RegExp(`export type ${type} =([^;]*);`).exec(source)![1]!;
    return [...union.matchAll(/'([\w-]+)'/g)].map(([, name]) => name!);
  };

  it('lists exactly the existing error codes, and states which errors may be retried', () => {
    const rows = rowsUnder('Each code');
    expect([...rows.keys()]).to.have.members(namesIn('QueueLockErrorCode'));
    for (const [code, [, again]] of rows) {
      const { retryable } = new QueueLockError(code as QueueLockErrorCode, '');
      expect(again, code).to.equal(retryable ? 'yes' : 'no');
    }
  });

  it('explains each error code and each reason of a loss, with what to do', () => {
    for (const heading of ['Each code', 'Why a lock was lost']) {
      for (const [name, cells] of rowsUnder(heading)) {
        const [meaning, remedy] = [cells[0], cells.at(-1)];
        if (name === 'reason') continue;
        expect(meaning, name).to.match(/\w{2,} \w{2,}/);
        expect(remedy, name)
          .to.match(/\w{2,} \w+/)
          .and.not.match(/^nothing/);
      }
    }
  });

  it('lists exactly the existing reasons for a loss of the lock', () => {
    expect([...rowsUnder('Why a lock was lost').keys()].filter((name) => name !== 'reason')).to.have.members(
      namesIn('RevocationReason'),
    );
  });
});

describe('the links of the documentation pages', () => {
  const others = [
    'README.md',
    '.github/CONTRIBUTING.md',
    '.github/SECURITY.md',
    '.changeset/README.md',
    ...['README', 'SECURITY-MODEL', 'VERSIONING'].map((page) => `packages/${page}.md`),
  ];
  // Pages of the site link to addresses of the site. packages/site/test/pages.test.ts checks these.
  const beside = PAGES.filter((page) => !page.endsWith('.md'));
  const pages = [...others, ...beside.map((page) => `packages/${page}.md`)];
  for (const page of pages) {
    it(`have existing targets in ${page}`, () => {
      expect(brokenLinks(page)).to.deep.equal([]);
    });
  }
});

/** Returns links within the repository to missing files or headings. */
function brokenLinks(page: string): string[] {
  return linksOf(textOf(page))
    .filter((link) => !isThere(page, link))
    .map(({ path, anchor }) => path + anchor);
}

function isThere(page: string, { path, anchor }: Link): boolean {
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return false;
  if (anchor === '') return true;
  const text = statSync(file).isDirectory() ? join(file, 'README.md') : file;
  return anchorsOf(textOf(relative(ROOT, text))).includes(anchor.slice(1));
}
