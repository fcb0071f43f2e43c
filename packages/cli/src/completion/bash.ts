import type { CommandVocabulary, Vocabulary } from './vocabulary.ts';

/** Generates the completion script for bash 3.2 and later. It does not need the package bash-completion. */
export function bashCompletion({ program, commands }: Vocabulary): string {
  const running = commands.filter(({ runsProgram }) => runsProgram).map(({ name }) => name);
  return `# bash completion for ${program}; load it with: source <(${program} completion bash)
_${program}() {
  local IFS=$'\\n' cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      --)
        case $command in
          ${running.join('|')})
            if ((at + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
        esac
        return ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=\${COMP_WORDS[at]}; fi ;;
    esac
  done
  case $command$prev in
${commands.flatMap(valueCases).join('\n')}
  esac
  case $command in
    '') words=${quoted([...commands.map(({ name }) => name), '--help', '--version'])} ;;
${commands.map(wordCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _${program} ${program}
`;
}

function valueCases({ name, options }: CommandVocabulary): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ long, choices }) => {
      const response = choices.length === 0 ? '' : `COMPREPLY=($(compgen -W ${quoted(choices)} -- "$cur")); `;
      return `    ${name}${long}) ${response}return ;;`;
    });
}

function wordCase({ name, options, choices }: CommandVocabulary): string {
  return `    ${name}) words=${quoted([...choices, ...options.map(({ long }) => long)])} ;;`;
}

/**
 * Formats words as a bash string with one word on each line. The generated script splits the string at line
 * ends.
 */
function quoted(words: readonly string[]): string {
  return `$'${words.join('\\n')}'`;
}
