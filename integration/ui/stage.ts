import { once } from 'node:events';
import { Cli } from '@queuelock/cli/test/cli-process.ts';
import { createLockClient, type LockClient } from '@queuelock/core';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '@queuelock/harness/services/chromium';
import type { ProcessService } from '@queuelock/harness/services/service';
import { STORES, type Store } from './stores.ts';

/** The command `queuelock ui` with a store's server of its own, and a browser that shows its page. */
export class UiStage {
  readonly server: ProcessService;
  readonly browser: Browser;
  readonly #store: Store;
  readonly #clients: LockClient[] = [];
  readonly #pages: Page[] = [];
  /**
   * Errors that the browser reported: exceptions in scripts and violations of the content security policy.
   */
  readonly complaints: string[] = [];
  #cli: Cli;
  #url: string;

  private constructor(parts: {
    store: Store;
    server: ProcessService;
    browser: Browser;
    cli: Cli;
    url: string;
  }) {
    this.#store = parts.store;
    this.server = parts.server;
    this.browser = parts.browser;
    this.#cli = parts.cli;
    this.#url = parts.url;
  }

  static async open(name: keyof typeof STORES): Promise<UiStage> {
    const store = STORES[name];
    const browser = await startChromium();
    const server = await store.start();
    const [cli, url] = await startUi(store.url(server), '0');
    return new UiStage({ store, server, browser, cli, url });
  }

  /** URL of the page that `queuelock ui` serves. */
  get url(): string {
    return this.#url;
  }

  /** Returns a lock client on the same store, as another program would have it. */
  client(owner: string): LockClient {
    const client = createLockClient(this.#store.backend(this.server), { owner });
    this.#clients.push(client);
    return client;
  }

  /**
   * Opens a browser tab that shows a queue. The default `url` is the address of the page that `queuelock ui`
   * serves.
   */
  async tab(name: string, url = this.#url): Promise<Page> {
    const page = await this.browser.newPage();
    this.#pages.push(page);
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Uncaught/i.test(message.text())) this.complaints.push(message.text());
    });
    await page.goto(`${url}/#/queue/${encodeURIComponent(name)}`);
    await page.getByRole('heading', { name: 'Holders' }).waitFor();
    return page;
  }

  /** Kills the command `queuelock ui` with SIGKILL, which simulates a crash. */
  async killUi(): Promise<void> {
    this.#cli.child.kill('SIGKILL');
    await this.#cli.ending;
  }

  /** Starts `queuelock ui` again at the same address. */
  async startUiAgain(): Promise<void> {
    [this.#cli, this.#url] = await startUi(this.#store.url(this.server), new URL(this.#url).port);
  }

  /** Closes tabs and clients after a test. */
  async clear(): Promise<void> {
    await Promise.all(this.#pages.splice(0).map((page) => page.close()));
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }

  async close(): Promise<void> {
    await this.clear();
    await this.browser.close();
    this.#cli.child.kill('SIGTERM');
    await this.#cli.ending;
    await this.server.stop();
  }
}

async function startUi(backend: string, port: string): Promise<[Cli, string]> {
  const cli = new Cli(['ui', '--backend', backend, '--port', port, '--json']);
  while (!cli.stdout.includes('\n')) {
    const ended = await Promise.race([once(cli.child.stdout!, 'data').then(() => undefined), cli.ending]);
    if (ended) throw new Error(`queuelock ui has ended: ${ended.stderr}`);
  }
  return [cli, (JSON.parse(cli.stdout) as { url: string }).url];
}
