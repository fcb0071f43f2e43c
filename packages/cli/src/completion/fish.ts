import type { CommandVocabulary, Vocabulary } from './vocabulary.ts';

export function fishCompletion({ program, commands }: Vocabulary): string {
  const running = commands.filter(({ runsProgram }) => runsProgram).map(({ name }) => name);
  return `# fish completion for ${program}; load it with: ${program} completion fish | source
function __${program}_runs
    contains -- -- (commandline -opc)
end
function __${program}_program
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words)
    complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) (commandline -ct))
end
complete -c ${program} -f
complete -c ${program} -n '__${program}_runs; and __fish_seen_subcommand_from ${running.join(' ')}' -a '(__${program}_program)'
${commands.flatMap((command) => linesOf(program, command)).join('\n')}
`;
}

function linesOf(program: string, { name, summary, options, choices }: CommandVocabulary): string[] {
  const here = `complete -c ${program} -n '__fish_seen_subcommand_from ${name}; and not __${program}_runs'`;
  return [
    `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...(choices.length === 0 ? [] : [`${here} -a ${quoted(choices.join(' '))}`]),
    ...options.map(({ long, description, takesValue, choices: values }) => {
      const value = takesValue ? (values.length === 0 ? ' -x' : ` -x -a ${quoted(values.join(' '))}`) : '';
      return `${here} -l ${long.replace(/^--/, '')}${value} -d ${quoted(description)}`;
    }),
  ];
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
