import { readFileSync } from 'node:fs';
import { Command, CommanderError } from '@commander-js/extra-typings';
import { addContend } from './commands/contend.ts';
import { addDemo } from './commands/demo.ts';
import { addRun } from './commands/run.ts';
import { EXIT } from './exit-codes.ts';
import { describeFailure, describeUsageError, exitCodeFor } from './failure.ts';

const HELP = `
Backends, with --backend or in QUEUELOCK_URL (better for passwords: others can see a command line):
  memory:                                    this process alone
  etcd://[user:password@]host:port[,…]       etcd, etcds:// with TLS
  zk://host:port[,…][/chroot]                ZooKeeper

Exit codes:
  0 done   1 failed, or a violation was found   2 wrong command line   75 the lock was lost
  128+n ended by signal n   with \`run\`: the command's own

Examples:
  $ queuelock demo
  $ queuelock run nightly --backend etcd://127.0.0.1:2379 -- ./import.sh
  $ queuelock contend stock --backend etcd://127.0.0.1:2379 --count 3 --hold 200 --json`;

const EXIT_WITHIN_MS = 1_000;

async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('queuelock')
    .description('Fair distributed locks over etcd and ZooKeeper: first come, first served.')
    .version(version(), '--version')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => {
        write(`${describeUsageError(text)}\n`);
      },
    });
  addDemo(program);
  addRun(program);
  addContend(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, argv);
  }
  // Everything is closed here. Should a client library have left a handle open, it must not keep a script waiting.
  setTimeout(() => {
    process.exit();
  }, EXIT_WITHIN_MS).unref();
}

function report(error: unknown, argv: readonly string[]): number {
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  process.stderr.write(`${describeFailure(error, own.includes('--verbose'))}\n`);
  return exitCodeFor(error);
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

await main(process.argv);
