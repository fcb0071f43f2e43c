import { once } from 'node:events';
import type { Command } from '@commander-js/extra-typings';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { backendOption, jsonOption, profileOption, verboseOption, wholeNumber } from '../options.ts';
import { printer } from '../printer.ts';

interface UiOptions extends StoreOptions {
  readonly port: number;
  readonly readOnly?: true;
  readonly open?: true;
  readonly json?: true;
}

const DEFAULT_PORT = 7410;

const NOTES = `Serves the page on 127.0.0.1 until it is stopped; it needs no network except to the store. Every user of this machine can open it, and
evict, ask and join with it unless it is --read-only. To open it on another machine, forward the port (ssh -L 7410:127.0.0.1:7410 host).
Entries that were made from the page end with the command.
With --json: url.`;

/** Adds the command `ui`, which shows the queues in a browser. */
export function addUi(program: Command): void {
  const command = program
    .command('ui')
    .summary('show the queues in a browser')
    .description('Serves a page that shows queues, holders, waiters, elections and deadlocks, live.')
    .option('--port <n>', 'port; 0: any free port', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option('--read-only', 'forbid to evict, ask or join from the page')
    .option('--open', 'open the page in a browser')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => {
      process.exitCode = await runUi(options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock ui --backend etcd://127.0.0.1:2379', 'queuelock ui --read-only --port 0 --open'],
  });
}

function runUi({ port, readOnly, open, json, ...place }: UiOptions): Promise<number> {
  return withClient(place, async ({ client, backend, stop, lines }) => {
    const { serveUi } = await import('../ui/served-ui.ts');
    const { endpoint } = backend.info;
    await using served = await serveUi({ client, storeLabel: endpoint, port, isReadOnly: readOnly === true });
    const { url } = served;
    printer(lines, json === true).print({ url }, `${url} shows ${endpoint}; Ctrl-C ends it`);
    if (open) {
      const { openBrowser } = await import('../ui/open-browser.ts');
      if (!(await openBrowser(url))) lines.write('no browser was found: open the address yourself');
    }
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
    return EXIT.ok;
  });
}
