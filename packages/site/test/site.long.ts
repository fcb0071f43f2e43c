import { startChromium } from '@queuelock/harness/services/chromium';
import { orSkip } from '@queuelock/harness/services/skip';
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { PAGES } from '../src/contents.ts';
import { ROOT } from '../src/sources.ts';
import { serveFolder, type Served } from './serve.ts';

const FOLDER = join(ROOT, 'packages/site/dist');

describe('the built site', function () {
  this.timeout(60_000);
  let served: Served | undefined;

  before(async function () {
    this.timeout(600_000);
    await promisify(execFile)(process.execPath, ['--import', 'tsx/esm', 'packages/site/src/main.ts'], {
      cwd: ROOT,
    });
    served = await serveFolder(FOLDER);
  });

  after(async () => {
    await served?.close();
  });

  const htmlFiles = (): readonly string[] =>
    readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.html') && !name.includes('playground-page'),
    );

  it('has each page as HTML and Markdown, and an API page for each package entry', () => {
    const files = new Set(readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }));
    for (const { route } of PAGES) expect(files).to.include.members([`${route}.html`, `${route}.md`]);
    expect(files).to.include.members(['llms.txt', 'llms-full.txt', 'api/core.html', 'api/core-backend.html']);
  });

  it('has no link to a page or heading that does not exist', () => {
    const pages = new Map(
      htmlFiles().map((file) => [
        `/${file.replace(/(?:index)?\.html$/, '')}`,
        readFileSync(join(FOLDER, file), 'utf8'),
      ]),
    );
    const broken: string[] = [];
    for (const [from, html] of pages) {
      const main = html.slice(html.indexOf('<main'));
      for (const [, link = ''] of main.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        const target = new URL(link, `http://site${from}`);
        if (target.host !== 'site' || target.pathname.startsWith('/playground-page/')) continue;
        const page = pages.get(target.pathname.replace(/\.html$/, ''));
        const heading = decodeURIComponent(target.hash.slice(1));
        if (page === undefined || (heading !== '' && !page.includes(`id="${heading}"`)))
          broken.push(`${from}: ${link}`);
      }
    }
    expect([...new Set(broken)]).to.deep.equal([]);
  });

  describe('in Chromium', () => {
    let browser: Browser | undefined;
    let page: Page;
    const complaints: string[] = [];

    before(async function () {
      browser = await orSkip(this, startChromium());
    });

    beforeEach(async () => {
      complaints.length = 0;
      page = await browser!.newPage();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('response', (response) => {
        if (response.status() >= 400) complaints.push(`${String(response.status())} ${response.url()}`);
      });
    });

    afterEach(async () => {
      await page.close();
      expect(complaints).to.deep.equal([]);
    });

    after(() => browser?.close());

    it('links the first page to the quick start', async () => {
      await page.goto(served!.url);
      await page.getByRole('link', { name: 'Quick start' }).last().click();
      await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor();
    });

    for (const [words, route] of [
      ['late holder', 'guides/fencing'],
      ['pino', 'guides/observability'],
      ['prom-client', 'guides/observability'],
      ['terminus', 'guides/nestjs'],
      ['BullMQ', 'tools/bullmq'],
      ['Prisma', 'guides/transactions'],
      ['Drizzle', 'guides/migrations'],
      ['TypeORM', 'guides/migrations'],
      ['Knex', 'guides/migrations'],
      ['Kysely', 'guides/transactions'],
      ['jest', 'guides/testing'],
    ] as const)
      it(`finds the page ${route} by a search for "${words}", without a server`, async () => {
        await page.goto(`${served!.url}/quick-start`);
        await page
          .getByRole('button', { name: /Search/ })
          .first()
          .click();
        await page.getByRole('searchbox').fill(words);
        await page.locator(`a.result[href*="/${route}"]`).first().waitFor();
      });

    it('shows the playground in a frame of its page', async () => {
      await page.goto(`${served!.url}/playground`);
      const frame = page.frameLocator('iframe');
      await frame
        .getByText(/^c\d holds:/)
        .first()
        .waitFor({ timeout: 30_000 });
    });
  });
});
