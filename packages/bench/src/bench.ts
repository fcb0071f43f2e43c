// Runs the benchmarks: pnpm bench. HELP in options.ts lists the options.
import { readOptions } from '@queuelock/harness/command-line';
import { HELP, benchOptions } from './options.ts';
import { nodeClients } from './node-clients.ts';
import { peerClients } from './peers.ts';
import { report } from './report.ts';
import { runRounds } from './rounds.ts';

const options = readOptions(benchOptions, HELP);
const outcome = await runRounds({
  ...options,
  clients: [...nodeClients, ...peerClients],
  tell: (line) => console.error(line),
});
await report(outcome, options);
