import { once } from 'node:events';
import { createLockClient } from '@queuelock/core';
import { backendFromUrl } from '../backends.ts';
import type { LineWriter } from '../lines.ts';
import type { Stop } from '../stop.ts';
import { openBrowser } from '../ui/open-browser.ts';
import { serveUi } from '../ui/served-ui.ts';
import { Arena } from './arena.ts';

/** Settings of the demo page. */
export interface PageSettings {
  /** Name of the queue that the contenders join. */
  readonly name: string;
  readonly url: string;
  /** Whether the store is a temporary file of this demo. */
  readonly isOwnFile: boolean;
  readonly stamp: () => string;
  readonly stop: Stop;
  readonly lines: LineWriter;
  readonly json: boolean;
  /** Whether to open a browser, because a user sits at this terminal. */
  readonly opens: boolean;
}

/**
 * Serves a page with contenders that visitors can disturb, until the demo is stopped. Afterwards no process
 * and no port is left.
 */
export async function showPage(settings: PageSettings): Promise<void> {
  const { name, url, isOwnFile, stamp, stop, lines, json, opens } = settings;
  const backend = await backendFromUrl(url);
  const { info } = backend;
  await using client = createLockClient(backend);
  const emit = (event: object): void => {
    if (json) lines.write(JSON.stringify(event));
  };
  const arena = await Arena.open({ name, url, info, client, stamp, emit });
  try {
    const storeLabel = isOwnFile ? 'a file of this demo' : info.endpoint;
    await using served = await serveUi({ client, storeLabel, port: 0, isReadOnly: false, contenders: arena });
    const address = `${served.url}/#/contenders/${encodeURIComponent(name)}`;
    emit({ ev: 'page', url: address });
    if (!json) lines.write(`${address} shows contenders to add, freeze, kill and cut off; Ctrl-C ends it`);
    if (opens) await openBrowser(address);
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
  } finally {
    await arena.close();
  }
}
