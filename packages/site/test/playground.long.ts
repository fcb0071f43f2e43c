import { startChromium } from '@queuelock/harness/services/chromium';
import { orSkip } from '@queuelock/harness/services/skip';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { serveFolder, type Served } from './serve.ts';

const SITE = join(import.meta.dirname, '..');
const FOLDER = join(SITE, '.content/public/playground-page');

describe('the playground in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;
  let served: Served | undefined;
  let page: Page;
  const complaints: string[] = [];

  before(async function () {
    browser = await orSkip(this, startChromium());
    execFileSync(
      join(SITE, 'node_modules/.bin/vite'),
      ['build', '--config', 'vite.playground.js', '--logLevel', 'error'],
      { cwd: SITE },
    );
    served = await serveFolder(FOLDER);
  });

  beforeEach(async () => {
    complaints.length = 0;
    page = await browser!.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${served!.url}/index.html`);
    await page.getByRole('heading', { name: '4 of at most 8 processes' }).waitFor();
  });

  afterEach(async () => {
    const reported = await page.getByRole('main').textContent();
    await page.close();
    expect(complaints).to.deep.equal([]);
    // The log shows a violation if a contender was granted the lock before the earlier hold was over.
    expect(reported).to.not.match(/too early|violation/i);
  });

  after(async () => {
    await browser?.close();
    await served?.close();
  });

  const contender = (id: string): Locator =>
    page.locator('.contenders li').filter({ has: page.getByText(id, { exact: true }) });
  const holder = async (): Promise<string> => {
    const row = page.locator('.contenders li[data-status="holds"]').first();
    return (await row.locator('strong').textContent({ timeout: 30_000 }))!;
  };
  const press = (what: string, id: string): Promise<void> =>
    page.getByRole('button', { name: `${what} ${id}`, exact: true }).click();
  const story = (words: RegExp): Promise<void> => page.getByText(words).first().waitFor({ timeout: 30_000 });

  it('shows grants with growing tokens, one after another', async () => {
    await story(/^c\d holds: token \d+ → \d+/);
    const lines = await page.getByText(/holds: token \d+ → \d+/).allTextContents();
    for (const line of lines) {
      const [, before, after] = /token (\d+) → (\d+)/.exec(line)!;
      expect(Number(after)).to.be.greaterThan(Number(before));
    }
  });

  it('lets an added contender wait in the queue and hold in its order', async () => {
    await page.getByRole('button', { name: 'Add a contender' }).click();
    await contender('c5').waitFor();
    await story(/^c5 holds/);
  });

  it('grants the lock to another client after the proven time of a frozen holder', async () => {
    const id = await holder();
    await press('Freeze', id);
    await story(new RegExp(`^${id} is frozen while it holds`));
    await story(
      new RegExp(
        `^(?!${id})c\\d holds: token \\d+ → \\d+, .* after the proven time of ${id}, which is frozen, had ended`,
      ),
    );
    await press('Thaw', id);
    await story(new RegExp(`^${id} (gives up the lock|learns that it has lost)`));
  });

  it('makes a holder give up the lock by its own clock after its connection is cut', async () => {
    const id = await holder();
    await press('Cut off', id);
    await story(new RegExp(`^${id} gives up the lock by its own clock`));
    await press('Connect', id);
    await story(new RegExp(`^${id} is connected again`));
  });

  it('removes a killed holder, and grants the next contender after the TTL', async () => {
    const id = await holder();
    await press('Kill', id);
    await story(new RegExp(`^${id} was killed while it held`));
    await story(
      new RegExp(
        `^(?!${id})c\\d holds: token \\d+ → \\d+, .* after the proven time of ${id}, which was killed, had ended`,
      ),
    );
  });

  it('shows its queue in the other views of the dashboard', async () => {
    await page.goto(`${served!.url}/index.html#/queue/demo`);
    await page.getByRole('heading', { name: 'Holders' }).waitFor();
    await page.goto(`${served!.url}/index.html#/sessions`);
    await page.getByRole('heading', { name: 'Sessions' }).first().waitFor();
  });
});
