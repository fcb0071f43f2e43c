import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** Commands, options and values that shells can complete. */
export interface Vocabulary {
  readonly program: string;
  readonly commands: readonly CommandVocabulary[];
}

export interface CommandVocabulary {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionVocabulary[];
  /** Possible values of the command's first argument; empty if any text is possible. */
  readonly choices: readonly string[];
  /** Whether the command runs a program, which the command line names after `--`. */
  readonly runsProgram: boolean;
}

export interface OptionVocabulary {
  /** Name of the option with its dashes, such as `--ttl`. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** Possible values of the option; empty if any text is possible. */
  readonly choices: readonly string[];
}

const HELP: OptionVocabulary = {
  long: '--help',
  description: 'display help for command',
  takesValue: false,
  choices: [],
};

/** Reads the vocabulary from the definitions of the commands. */
export function vocabularyOf(program: CommandUnknownOpts): Vocabulary {
  return { program: program.name(), commands: program.commands.map(commandVocabulary) };
}

function commandVocabulary(command: CommandUnknownOpts): CommandVocabulary {
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
