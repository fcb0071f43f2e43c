import { CommanderError } from '@commander-js/extra-typings';
import { EXIT } from './exit-codes.ts';
import { describeFailure, exitCodeFor } from './failure.ts';
import { createProgram } from './program.ts';

/**
 * Does what a command line asks for. What went wrong is told on standard error, and nothing else is.
 * @returns the exit code of what went wrong; `undefined` when nothing did, and the command has said how the process ends
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
  // Commander has said it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  process.stderr.write(`${describeFailure(error, own.includes('--verbose'))}\n`);
  return exitCodeFor(error);
}
