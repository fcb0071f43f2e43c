// The process that runs the experiment of `pnpm chaos`. chaos.ts starts it, and ends it by a message over the
// IPC channel.
import { join } from 'node:path';
import { stopShared } from '@queuelock/harness/services';
import { chaosOptions, commandOf } from './chaos-options.ts';
import { writeReport } from './chaos-report.ts';
import { isUnsafe } from '@queuelock/harness/check/finding';
import { runChaos } from './chaos-run.ts';
import { abandonTrials } from './experiment.ts';
import { plainTable, tableOf } from './table.ts';

// The options are never `undefined` here: chaos.ts has validated the arguments, and handles the request for
// help itself.
const options = chaosOptions(process.argv.slice(2))!;
const { minutes, seed, rule, recipes, keep } = options;
const MAX_FINDINGS = 10;
const early = new AbortController();
// Ends this process when its parent ends, so that none of its children survives.
const leave = (): never => process.exit(1);
process.on('disconnect', leave);
process.on('message', () => {
  early.abort();
});

try {
  for (const store of options.stores) {
    if (early.signal.aborted) break;
    const plan = { store, minutes, seed, rule, recipes, signal: early.signal, out: process.stdout };
    const outcome = await runChaos(plan);
    console.log(`\n${plainTable(tableOf([{ name: store, verdicts: [outcome.verdict] }]))}\n`);
    const out = options.out(store);
    await writeReport(outcome, { out, keep, command: commandOf(options, store) });
    const { findings } = outcome.verdict;
    for (const { rule, message } of findings.slice(0, MAX_FINDINGS)) console.log(`${rule}: ${message}`);
    const unsafe = findings.filter(isUnsafe).length;
    console.log(`${findings.length} violations, ${unsafe} of safety; report: ${join(out, 'report.md')}`);
    if (outcome.verdict.findings.length > 0 || outcome.performed.failure) process.exitCode = 1;
  }
} finally {
  try {
    await abandonTrials();
  } finally {
    await stopShared();
  }
  process.off('disconnect', leave);
  process.disconnect();
}
