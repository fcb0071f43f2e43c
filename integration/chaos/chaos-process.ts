// The process that runs the experiment of `pnpm chaos`. chaos.ts starts it, and ends it by a message over the
// IPC channel.
import { join } from 'node:path';
import { stopShared } from '@queuelock/harness/services';
import { chaosOptions, commandOf } from './chaos-options.ts';
import { writeReport } from './chaos-report.ts';
import type { Verdict } from '@queuelock/harness/check';
import { isUnsafe } from '@queuelock/harness/check/finding';
import { runRounds } from './chaos-rounds.ts';
import { runChaos } from './chaos-run.ts';
import { hasSchedule } from './chaos-stores.ts';
import { abandonTrials } from './experiment.ts';
import type { StoreName } from './profiles.ts';
import { addToSums, readSums, sumsOf, sumsTable } from './sums.ts';
import { plainTable, tableOf } from './table.ts';

/** The result of a run on one store. */
interface Ran {
  readonly verdicts: readonly Verdict[];
  /** Description of the store's servers with their versions. */
  readonly servers: string;
  /** Directory of the report, if the run has one. */
  readonly report?: string;
  /** Error that ended the run on the store early. */
  readonly failure?: Error | undefined;
}

// The command-line options are never `undefined` here: chaos.ts has validated the arguments, and has handled
// a request for help.
const options = chaosOptions(process.argv.slice(2))!;
const { minutes, seed, spacing, rule, recipes, keep, sums } = options;
const MAX_FINDINGS = 10;
const early = new AbortController();
const plan = { minutes, seed, spacing, rule, signal: early.signal, out: process.stdout };
// Ends this process when its parent ends, so that none of its children survives.
const leave = (): never => process.exit(1);
process.on('disconnect', leave);
process.on('message', () => {
  early.abort();
});

try {
  for (const store of options.stores) {
    if (early.signal.aborted) break;
    const ran = hasSchedule(store) ? await runSchedule(store) : await runRounds({ ...plan, store });
    print(store, ran);
    if (sums !== undefined) await addToSums(sums, sumsOf(ran.verdicts, { servers: ran.servers, seed }));
  }
  if (sums !== undefined) console.log(`\n${sums}\n${plainTable(sumsTable(await readSums(sums)))}`);
} finally {
  try {
    await abandonTrials();
  } finally {
    await stopShared();
  }
  process.off('disconnect', leave);
  process.disconnect();
}

async function runSchedule(store: StoreName): Promise<Ran> {
  const outcome = await runChaos({ ...plan, store, recipes });
  const report = options.out(store);
  await writeReport(outcome, { out: report, keep, command: commandOf(options, store) });
  const { verdict, description, performed } = outcome;
  return { verdicts: [verdict], servers: description, report, failure: performed.failure };
}

function print(store: string, { verdicts, report, failure }: Ran): void {
  console.log(`\n${plainTable(tableOf([{ name: store, verdicts }]))}\n`);
  const findings = verdicts.flatMap((verdict) => verdict.findings);
  for (const { rule, message } of findings.slice(0, MAX_FINDINGS)) console.log(`${rule}: ${message}`);
  const unsafe = findings.filter(isUnsafe).length;
  const where = report === undefined ? '' : `; report: ${join(report, 'report.md')}`;
  console.log(`${findings.length} violations, ${unsafe} of safety${where}`);
  if (findings.length > 0 || failure) process.exitCode = 1;
}
