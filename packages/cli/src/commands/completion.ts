import { Argument, type Command } from '@commander-js/extra-typings';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { vocabularyOf, type Vocabulary } from '../completion/vocabulary.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { explain } from '../help.ts';
import { writeOut } from '../lines.ts';

type Shell = 'bash' | 'zsh' | 'fish';

const SCRIPTS: Readonly<Record<Shell, (vocabulary: Vocabulary) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Adds the command `completion`, which prints completion scripts for shells. */
export function addCompletion(program: Command): void {
  const command = program
    .command('completion')
    .summary('print a script that completes command lines')
    .description('Prints a script with which the shell completes commands, options and programs to run.')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish'] as const))
    .action((shell) => {
      writeOut(SCRIPTS[shell](vocabularyOf(program)));
    });
  explain(command, {
    examples: [
      ['source <(queuelock completion bash)', 'in ~/.bashrc'],
      ['source <(queuelock completion zsh)', 'in ~/.zshrc, after compinit'],
      ['queuelock completion fish | source', 'in ~/.config/fish/config.fish'],
    ],
  });
}
