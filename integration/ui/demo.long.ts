import { DemoPage, isLater, type DemoLine } from '@queuelock/cli/test/demo-page.ts';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { orSkip } from '@queuelock/harness/services/skip';
import { startChromium } from '@queuelock/harness/services/chromium';
import type { ProcessService } from '@queuelock/harness/services/service';
import { STORES } from './stores.ts';

function tokensOf({ events }: DemoPage): readonly bigint[] {
  const grants = events.filter(({ ev }) => ev === 'acquired');
  const inTime = grants.toSorted((a, b) => (isLater(a, b) ? 1 : -1));
  return inTime.map(({ token, zxid }) => BigInt((zxid ?? token)!));
}

function expectGrowing(tokens: readonly bigint[]): void {
  expect(tokens).to.have.length.greaterThan(1);
  expect(
    tokens.every((token, at) => at === 0 || token > tokens[at - 1]!),
    tokens.join(),
  ).to.equal(true);
}

/**
 * Returns the ids of the contenders that were notified between a release and the next release, according to
 * the timestamps of their own events.
 */
function wokenBetween(release: DemoLine, next: DemoLine, { events }: DemoPage): readonly string[] {
  const reports = events.filter(
    (event) => event.ev === 'notified' && isLater(event, release) && isLater(next, event),
  );
  return [...new Set(reports.map(({ id }) => id))];
}

type Action = (id: string) => Promise<unknown>;

/**
 * Applies an action to a contender that holds, and resolves with the event of the action. If the hold had
 * already ended, undoes the action and tries the next holder.
 */
async function toHolder(demo: DemoPage, does: Action, undoes: Action): Promise<DemoLine> {
  for (;;) {
    const grant = await demo.nextGrant();
    await does(grant.id);
    const done = await demo.until(
      ({ id, ev }) => id === grant.id && (ev === 'frozen' || ev === 'cut'),
      grant,
    );
    const released = demo.events.some(
      (event) => event.id === grant.id && event.ev === 'released' && isLater(event, grant),
    );
    if (done.until !== undefined && !released) return done;
    await undoes(grant.id);
  }
}

/**
 * Limit in milliseconds for a hold that the test has ended by a click on the button "Release". Holds that end
 * by themselves last longer.
 */
const BY_HAND_MS = 2_400;

/**
 * Resolves with the first grant that follows the given event and belongs to another contender than the event.
 */
function nextAfter(demo: DemoPage, event: DemoLine): Promise<DemoLine> {
  return demo.until(({ ev, id }) => ev === 'acquired' && id !== event.id, event);
}

describe('queuelock demo in Chromium', function () {
  this.timeout(90_000);
  let browser: Browser | undefined;
  let demo: DemoPage;
  let tab: Page;

  const press = (name: string): Promise<void> => tab.getByRole('button', { name, exact: true }).click();
  const row = (id: string) =>
    tab.locator('.contenders li').filter({ has: tab.getByText(id, { exact: true }) });
  const isShown = (text: RegExp): Promise<void> =>
    tab.locator('.happenings').getByText(text).first().waitFor();

  before(async function () {
    browser = await orSkip(this, startChromium());
    demo = await DemoPage.open();
    tab = await browser.newPage();
    tab.setDefaultTimeout(25_000);
    await tab.goto(demo.url);
    await tab.getByRole('heading', { name: '4 of at most 8 processes' }).waitFor();
  });
  after(async () => {
    if (!browser) return;
    await browser.close();
    expect(await demo.interrupt()).to.equal(0);
  });

  it('adds a contender, which waits at the end of the queue', async () => {
    await press('Add a contender');
    await row('c5')
      .getByText(/is next|waits, \d/)
      .waitFor();
    await tab.getByRole('heading', { name: '5 of at most 8 processes' }).waitFor();
  });

  it('shows that a release notified one waiter, as the waiters themselves report', async () => {
    const grant = await demo.nextGrant();
    const release = await demo.until(({ id, ev }) => id === grant.id && ev === 'released', grant);
    const next = await nextAfter(demo, release);
    const after = await demo.until(({ id, ev }) => id === next.id && ev === 'released', next);
    expect(wokenBetween(release, after, demo)).to.deep.equal([next.id]);
    await isShown(/holds: token \d+ → \d+, .* after c\d released; 1 of [34] waiters woken/);
  });

  it('releases a hold with a button', async () => {
    // Clicks again, in the next hold, if the hold had ended by itself before the click.
    for (let heldMs = Infinity; heldMs > BY_HAND_MS;) {
      const grant = await demo.nextGrant();
      await press(`Release ${grant.id}`);
      const release = await demo.until(({ id, ev }) => id === grant.id && ev === 'released', grant);
      heldMs = Number(BigInt(release.t) - BigInt(grant.t)) / 1e6;
    }
  });

  it('ends the hold of a frozen contender before the next hold begins', async () => {
    const frozen = await toHolder(
      demo,
      (id) => press(`Freeze ${id}`),
      (id) => press(`Thaw ${id}`),
    );
    const next = await nextAfter(demo, frozen);
    expect(BigInt(next.t) > BigInt(frozen.until!), 'after the proven time').to.equal(true);
    await row(frozen.id).getByText('lost its entry while frozen; it will notice when it resumes').waitFor();
    const words = `after the proven time of ${frozen.id}, which is frozen, had ended; 1 of \\d waiters woken`;
    await isShown(new RegExp(words));
    await press(`Thaw ${frozen.id}`);
    await demo.until(({ id, ev }) => id === frozen.id && ev === 'lost', frozen);
    await isShown(new RegExp(`${frozen.id} learns that it has lost the lock`));
  });

  it('ends the hold of a disconnected contender before the next hold begins', async () => {
    const cut = await toHolder(
      demo,
      (id) => press(`Cut off ${id}`),
      (id) => press(`Connect ${id}`),
    );
    const lost = await demo.until(({ id, ev }) => id === cut.id && ev === 'lost', cut);
    const next = await nextAfter(demo, cut);
    expect(isLater(next, lost), 'after it had given up').to.equal(true);
    await isShown(new RegExp(`${cut.id} gives up the lock by its own clock`));
    await press(`Connect ${cut.id}`);
    await demo.until(({ id, ev }) => id === cut.id && ev === 'enqueued', lost);
  });

  it('grants the lock to the next contender after a holder is killed', async () => {
    const { id: killed } = await demo.nextGrant();
    await press(`Kill ${killed}`);
    await row(killed).getByText('has ended: killed').waitFor();
    await nextAfter(demo, await demo.until(({ id, ev }) => id === killed && ev === 'crashed'));
    await isShown(new RegExp(`${killed} was killed`));
  });

  it('shows tokens that always grow, and no grant before an earlier hold has ended', async () => {
    expectGrowing(tokensOf(demo));
    expect(await tab.locator('.happenings [data-kind="violation"]').count()).to.equal(0);
  });

  it('lets a user join the queue, and shows the user in the log', async () => {
    const { contenders } = await demo.seen(() => true);
    for (const { id } of contenders.filter(({ status }) => status !== 'gone').slice(2))
      await demo.client.contend({ act: 'kill', id });
    await tab.getByRole('link', { name: 'Join their queue' }).click();
    await press('Join the queue');
    await tab.locator('.join').getByText('You hold the lock').waitFor();
    await press('Release');
    await tab.getByRole('link', { name: 'Contenders', exact: true }).click();
    await isShown(/holds: token \d+ → \d+, after /);
  });

  it('fits a screen of 320 pixels, and can be used with the keyboard alone', async () => {
    await tab.setViewportSize({ width: 320, height: 700 });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    const freeze = tab.getByRole('button', { name: /^Freeze c/ }).first();
    const name = (await freeze.getAttribute('aria-label'))!;
    await freeze.focus();
    await tab.keyboard.press('Enter');
    const thaw = tab.getByRole('button', { name: name.replace('Freeze', 'Thaw') });
    await thaw.waitFor();
    expect(await tab.locator('button:focus').getAttribute('aria-label')).to.match(/^Thaw/);
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name }).waitFor();
  });
});

for (const store of ['etcd', 'zookeeper'] as const) {
  describe(`over ${store}`, function () {
    this.timeout(90_000);
    let server: ProcessService | undefined;
    let demo: DemoPage | undefined;

    before(async function () {
      server = await orSkip(this, STORES[store].start());
      demo = await DemoPage.open(['--backend', STORES[store].url(server)]);
    });
    after(async () => {
      try {
        if (demo) expect(await demo.interrupt()).to.equal(0);
      } finally {
        await server?.stop();
      }
    });

    it('ends the hold of a holder whose connection is cut, before the next hold begins', async () => {
      const page = demo!;
      const act = (act: 'cut' | 'mend') => (id: string) => page.client.contend({ act, id });
      const cut = await toHolder(page, act('cut'), act('mend'));
      const lost = await page.until(({ id, ev }) => id === cut.id && ev === 'lost', cut);
      const next = await nextAfter(page, cut);
      expect(isLater(next, lost), 'after it had given up').to.equal(true);
      await page.client.contend({ act: 'mend', id: cut.id });
      await page.until(({ id, ev }) => id === cut.id && ev === 'enqueued', lost);
      expectGrowing(tokensOf(page));
    });
  });
}
