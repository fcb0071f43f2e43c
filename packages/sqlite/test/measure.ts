// Compares locks between processes of one machine, and prints a Markdown table. From the root of the repository: node
// --conditions=@queuelock/source --import ./.ci/tsx.mjs packages/sqlite/test/measure.ts [PROCESSES] [ROUNDS] [HOLD_MS] [GAP_MS]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contest, faultsIn, handoffs, percentile, type Outcome } from './contest.ts';
import { LOCKERS } from './lockers.ts';

const [processes = 3, rounds = 100, holdMs = 10, gapMs = 20] = process.argv.slice(2).map(Number);

function row(kind: string, { holds, blocks, tookMs }: Outcome): string {
  const between = handoffs(holds);
  const cells = [
    kind,
    ((holds.length / tookMs) * 1_000).toFixed(0),
    `${percentile(between, 0.5).toFixed(2)} ms`,
    `${percentile(between, 0.99).toFixed(1)} ms`,
    `${Math.max(...holds.map(({ wasRequested: asked, from }) => (from - asked) / 1_000)).toFixed(0)} ms`,
    `${percentile(
      blocks.map(({ blockP999Ms }) => blockP999Ms),
      0.5,
    ).toFixed(1)} ms`,
  ];
  return `| ${cells.join(' | ')} |`;
}

console.log(
  `${processes} processes, ${rounds} rounds each, held for ${holdMs} ms, ${gapMs} ms between two claims\n`,
);
console.log('| lock | holds/s | hand-off p50 | p99 | longest wait | event loop delay p99.9 |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const kind of Object.keys(LOCKERS)) {
  const directory = mkdtempSync(join(tmpdir(), 'queuelock-measure-'));
  const script = { kind, directory, file: join(directory, 'locks.db'), holdMs, gapMs };
  const outcome = await contest(script, { processes, rounds });
  console.log(row(kind, outcome));
  if (kind === 'queuelock') for (const fault of faultsIn(outcome.holds)) console.log(`FAULT: ${fault}`);
  rmSync(directory, { recursive: true });
}
