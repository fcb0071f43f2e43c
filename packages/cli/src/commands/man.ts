import type { Command } from '@commander-js/extra-typings';
import { explain } from '../help.ts';
import { writeOut } from '../lines.ts';
import { manualOf } from '../manual.ts';

/** Adds the command `man`, which prints the manual page of the package. */
export function addMan(program: Command): void {
  const command = program
    .command('man')
    .summary('print the manual page')
    .description('Prints the manual page.')
    .action(() => {
      writeOut(manualOf(program));
    });
  explain(command, {
    examples: ['queuelock man | man -l -', 'queuelock man > /usr/local/share/man/man1/queuelock.1'],
  });
}
