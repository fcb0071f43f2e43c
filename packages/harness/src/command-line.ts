import { parseArgs, type ParseArgsConfig } from 'node:util';

type ArgumentOptions = NonNullable<ParseArgsConfig['options']>;

/** The options of a command, and whether it also takes positional arguments. Default: it takes none. */
interface ArgumentRules {
  readonly options: ArgumentOptions;
  readonly allowPositionals?: boolean;
}

const WRONG_ARGUMENTS = 2;
const HELP_OPTION = { help: { type: 'boolean', short: 'h' } } as const;

/** Thrown for wrong arguments. The message names them and the allowed values. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses the arguments of a command. Also accepts the option `--help`, or `-h`, which the caller must handle.
 * @throws {UsageError} for an unknown option, an option without its value, and a forbidden positional argument
 */
export function parseArguments<const Rules extends ArgumentRules>(args: readonly string[], rules: Rules) {
  // pnpm passes on a `--` before a script's arguments.
  const own = args[0] === '--' ? args.slice(1) : [...args];
  try {
    return parseArgs({ ...rules, args: own, options: { ...rules.options, ...HELP_OPTION } });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/**
 * Parses the arguments of this process. With `--help` it prints the help and ends the process. If an argument
 * is unknown, it also prints which one, and the exit code is 2.
 */
export function readArguments<const Options extends ArgumentOptions>(options: Options, help: string) {
  return readOptions((args) => {
    const parsed = parseArguments(args, { options, allowPositionals: true });
    return 'help' in parsed.values ? undefined : parsed;
  }, help);
}

/**
 * Returns what `parse` makes of the arguments of this process. If that is `undefined`, because only help was
 * requested, prints the help and ends the process. If `parse` throws a `UsageError`, also prints its message,
 * and the exit code is 2.
 */
export function readOptions<Options>(
  parse: (args: readonly string[]) => Options | undefined,
  help: string,
): Options {
  try {
    const options = parse(process.argv.slice(2));
    if (options !== undefined) return options;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    refuseArguments(error.message, help);
  }
  console.log(help);
  process.exit(0);
}

/** Prints why the arguments are wrong, and the help. Ends the process with exit code 2. */
export function refuseArguments(reason: string, help: string): never {
  console.error(`${reason}\n\n${help}`);
  process.exit(WRONG_ARGUMENTS);
}
