import { CommanderError } from '@commander-js/extra-typings';
import { EXIT } from './exit-codes.ts';
import { describeFailure, exitCodeFor } from './failure.ts';
import { createProgram } from './program.ts';

/**
 * Runs a command line. Prints errors, and nothing else, to standard error.
 * @returns the exit code after an error; `undefined` after a success, when the command has set the exit code itself
 */
export async function answer(argv: readonly string[]): Promise<number | undefined> {
  try {
    await (await createProgram(argv[2])).parseAsync(argv);
    return undefined;
  } catch (error) {
    return report(error, argv);
  }
}

function report(error: unknown, argv: readonly string[]): number {
  // Commander has printed the error already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  process.stderr.write(`${describeFailure(error, own.includes('--verbose'))}\n`);
  return exitCodeFor(error);
}
