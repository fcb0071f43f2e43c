import { CommanderError } from '@commander-js/extra-typings';
import { EXIT } from './exit-codes.ts';
import { describeFailure, exitCodeFor } from './failure.ts';
import { createProgram } from './program.ts';
import { hideArguments } from './secrets.ts';

const EXIT_WITHIN_MS = 1_000;

async function main(argv: readonly string[]): Promise<void> {
  hideArguments(argv);
  // Nobody reads the complaints any more: no reason to end in the middle of something.
  process.stderr.on('error', () => undefined);
  try {
    await createProgram().parseAsync(argv);
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

await main(process.argv);
