import { CommanderError } from '@commander-js/extra-typings';
import { EXIT } from './exit-codes.ts';
import { describeFailure, exitCodeFor } from './failure.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command line of `queuelock`. If the command fails, prints the error to standard error.
 * @returns the exit code for the error. It is `undefined` if the command succeeded, because then it has set
 *   `process.exitCode` itself
 */
export async function respond(argv: readonly string[]): Promise<number | undefined> {
  try {
    await (await createProgram(argv[2])).parseAsync(argv);
    return undefined;
  } catch (error) {
    return report(error, argv);
  }
}

function report(error: unknown, argv: readonly string[]): number {
  // The library commander, which parses the command line, has printed this error already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  process.stderr.write(`${describeFailure(error, own.includes('--verbose'))}\n`);
  return exitCodeFor(error);
}
