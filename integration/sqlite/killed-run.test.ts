import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cli } from '@queuelock/cli/test/cli-process.ts';
import { safely } from '@queuelock/conformance';
import { sqlite } from '@queuelock/sqlite';
import { filter, take } from 'rxjs';
import { until } from '@queuelock/harness/services/until';

describe('queuelock run over a SQLite file', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-test-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('lets the next command begin only when the command of a killed queuelock has ended', async () => {
    const file = join(directory, 'locks.db');
    const beats = join(directory, 'beats');
    const env = { QUEUELOCK_URL: `sqlite:${file}` };
    const run = (script: string, ttlS: number): Cli =>
      new Cli(['run', 'job', '--ttl', String(ttlS), '--', 'sh', '-c', script], env);
    const beat = (who: string): string => `echo "${who} $(date +%s%N)" >> '${beats}'`;
    const backend = sqlite({ file });
    const untilDepth = (depth: number): Promise<void> =>
      new Promise((resolve, reject) => {
        const seen$ = backend.observe('job').pipe(
          filter(({ length }) => length === depth),
          take(1),
        );
        seen$.subscribe({ next: () => resolve(), error: reject });
      });

    const killed = run(`trap '' TERM; while :; do ${beat('one')}; sleep 0.02; done`, 2);
    await untilDepth(1);
    const next = run(beat('two'), 10);
    await untilDepth(2);
    const hasBegun = (): Promise<string> => readFile(beats, 'utf8');
    await until(hasBegun, { what: 'the first command runs', withinMs: 30_000 });
    killed.child.kill('SIGKILL');
    expect(await next.ending).to.include({ code: 0 });
    await killed.ending;
    await backend.close();

    const [lastOfOne, two] = ['one', 'two'].map((who) => stampsOf(beats, who).at(-1) ?? 0n);
    expect(lastOfOne! > 0n).to.equal(true);
    safely(() => expect(lastOfOne! < two!).to.equal(true));
  }).timeout(60_000);
});

function stampsOf(file: string, who: string): readonly bigint[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => (line.startsWith(`${who} `) ? [BigInt(line.split(' ')[1] ?? '')] : []));
}
