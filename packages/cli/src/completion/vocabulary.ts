import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** What can stand on the command line, as shells complete it. */
export interface Vocabulary {
  readonly program: string;
  readonly commands: readonly CommandWords[];
}

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWord[];
  /** Of the first argument, where it is one of a few. */
  readonly choices: readonly string[];
  /** Whether a program to run comes after `--`. */
  readonly runsProgram: boolean;
}

export interface OptionWord {
  /** With the dashes. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** Of the value, where it is one of a few. */
  readonly choices: readonly string[];
}

const HELP: OptionWord = {
  long: '--help',
  description: 'display help for command',
  takesValue: false,
  choices: [],
};

/** Read from the definitions of the commands. */
export function vocabularyOf(program: CommandUnknownOpts): Vocabulary {
  return { program: program.name(), commands: program.commands.map(wordsOf) };
}

function wordsOf(command: CommandUnknownOpts): CommandWords {
  const args = command.registeredArguments;
  return {
    name: command.name(),
    summary: command.summary(),
    options: [
      ...command.options.map(({ long, description, required, optional, argChoices }) => ({
        long: long ?? '',
        description,
        takesValue: required || optional,
        choices: argChoices ?? [],
      })),
      HELP,
    ],
    choices: args[0]?.argChoices ?? [],
    runsProgram: args.some(({ variadic }) => variadic) && command.usage().includes('--'),
  };
}
