import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';

/**
 * Runs a script in a process. Expects that it prints nothing, and exits by itself after it has reported that it has closed everything.
 * Resolves with the milliseconds between this report and the exit.
 */
export async function endingOf(script: URL, hosts: readonly string[]): Promise<number> {
  const child = fork(fileURLToPath(script), hosts, { silent: true });
  let printed = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => (printed += String(chunk)));
  let closedAt = Infinity;
  child.once('message', () => {
    closedAt = performance.now();
    child.disconnect();
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect({ code, printed }).to.deep.equal({ code: 0, printed: '' });
  return livedSince(closedAt);
}
