// Runs the benchmarks: pnpm bench. HELP in options.ts lists the options.
import { UsageError } from '@queuelock/harness/command-line';
import { HELP, benchOptions, type BenchOptions } from './options.ts';
import { nodeClients } from './node-clients.ts';
import { peerClients } from './peers.ts';
import { report } from './report.ts';
import { runRounds } from './rounds.ts';

const WRONG_ARGUMENTS = 2;

function read(): BenchOptions | undefined {
  try {
    return benchOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nSee pnpm bench --help.`);
    process.exit(WRONG_ARGUMENTS);
  }
}

const options = read();
if (options === undefined) console.log(HELP);
else {
  const outcome = await runRounds({
    ...options,
    clients: [...nodeClients, ...peerClients],
    tell: (line) => console.error(line),
  });
  await report(outcome, options);
}
