import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

describe('a long simulation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queuelock-simulate-'));
  after(() => rmSync(folder, { recursive: true }));

  it('reports its progress from any first seed, and ends without an error when it is killed', async () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const loader = ['--conditions=@queuelock/source', '--import', `${root}.ci/tsx.mjs`];
    const seeds = ['etcd', '--from', '1', '--to', '1000001', '--processes', '1'];
    const args = [...loader, `${root}packages/simulation/src/slices/simulate.ts`, ...seeds];
    const run = spawn(process.execPath, [...args, '--state', join(folder, 'state.json')]);
    const errors = text(run.stderr);
    const closed = once(run, 'close');
    const lines = createInterface(run.stdout);
    const first = once(lines, 'line', { signal: AbortSignal.timeout(50_000) });
    const [line] = (await first.finally(() => run.kill('SIGKILL'))) as [string];
    await closed;
    expect(line).to.match(/^etcd: 50 seeds, \d+ events .* 0 violations$/);
    expect(await errors).to.equal('');
  }).timeout(60_000);
});
