import { parseArgs, type ParseArgsConfig } from 'node:util';

type ArgumentOptions = NonNullable<ParseArgsConfig['options']>;

const WRONG_ARGUMENTS = 2;
const HELP_OPTION = { help: { type: 'boolean', short: 'h' } } as const;

/**
 * Parses the arguments of this process. With `--help` it prints the help and ends the process. If an argument
 * is unknown, it also prints which one, and the exit code is 2.
 */
export function readArguments<const Options extends ArgumentOptions>(options: Options, help: string) {
  const parsed = parsedOr((reason) => refuseArguments(reason, help), options);
  if (!('help' in parsed.values)) return parsed;
  console.log(help);
  process.exit(0);
}

/** Prints why the arguments are wrong, and the help. Ends the process with exit code 2. */
export function refuseArguments(reason: string, help: string): never {
  console.error(`${reason}\n\n${help}`);
  process.exit(WRONG_ARGUMENTS);
}

function parsedOr<const Options extends ArgumentOptions>(
  onError: (reason: string) => never,
  options: Options,
) {
  // pnpm passes on a `--` before a script's arguments.
  const given = process.argv.slice(2);
  const args = given[0] === '--' ? given.slice(1) : given;
  try {
    return parseArgs({ args, allowPositionals: true, options: { ...options, ...HELP_OPTION } });
  } catch (error) {
    return onError((error as Error).message);
  }
}
