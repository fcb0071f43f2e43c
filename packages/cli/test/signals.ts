import { once } from 'node:events';
import { expect } from 'chai';
import { Cli } from './cli-process.ts';

const MEMORY = ['--backend', 'memory:'];

export async function releasesOn(signal: NodeJS.Signals, code: number): Promise<void> {
  const cli = new Cli(['contend', 'stock', ...MEMORY, '--hold', '60000', '--count', '5', '--json']);
  await cli.until('acquired');
  cli.child.kill(signal);
  expect(await cli.ending).to.include({ code, signal: null, stderr: '' });
  expect(cli.events.at(-1)).to.include({ ev: 'released', n: 1 });
}

/**
 * Sends the signal to `queuelock run`. Checks that its command, and a shell that the command has started, both
 * receive the signal.
 */
export async function handsOn(signal: NodeJS.Signals): Promise<void> {
  const name = signal.slice(3);
  const started = `trap "echo told; exit" ${name}; echo up; while :; do sleep 0.05; done`;
  const command = ['sh', '-c', `trap 'exit 5' ${name}; sh -c '${started}'; exit 1`];
  const cli = new Cli(['run', 'job', ...MEMORY, '--', ...command]);
  while (!cli.stdout.includes('up')) await once(cli.child.stdout!, 'data');
  cli.child.kill(signal);
  expect(await cli.ending).to.include({ code: 5, stdout: 'up\ntold\n' });
}
