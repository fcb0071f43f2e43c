// Runs the command pnpm chaos. HELP in chaos-options.ts describes it.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readOptions } from '@queuelock/harness/command-line';
import { ETCD_TRANSPORT_VARIABLE } from '@queuelock/harness/services/etcd-transport';
import { HELP, chaosOptions, type ChaosOptions } from './chaos-options.ts';

const AGAIN_AFTER_MS = 1_000;
const SCRIPT = fileURLToPath(new URL('chaos-process.ts', import.meta.url));

start(readOptions(chaosOptions, HELP));

/**
 * Starts the experiment in its own process group. Otherwise Ctrl-C would kill servers and workers too,
 * instead of only requesting the end.
 */
function start({ transport }: ChaosOptions): void {
  const chosen = transport === undefined ? {} : { [ETCD_TRANSPORT_VARIABLE]: transport };
  const child = fork(SCRIPT, process.argv.slice(2), { detached: true, env: { ...process.env, ...chosen } });
  let notifiedAt = 0;
  const stop = (): void => {
    // One interrupt by the user may arrive as two signals: from the terminal and from pnpm.
    if ((notifiedAt > 0 && notifiedAt + AGAIN_AFTER_MS > performance.now()) || !child.connected) return;
    if (notifiedAt > 0) {
      child.disconnect();
      return;
    }
    notifiedAt = performance.now();
    child.send('enough');
    console.log('\nEnding: faults are healed, and what there is is checked. Once more ends it at once.');
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
