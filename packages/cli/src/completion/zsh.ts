import type { CommandVocabulary, OptionVocabulary, Vocabulary } from './vocabulary.ts';

export function zshCompletion({ program, commands }: Vocabulary): string {
  return `#compdef ${program}
# zsh completion for ${program}; load it with: source <(${program} completion zsh)
_${program}() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2] at=\${words[(i)--]}
  case $command in
${commands.map(caseOf).join('\n')}
  esac
}
if [[ $funcstack[1] == _${program} ]]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

function caseOf({ name, options, choices, runsProgram }: CommandVocabulary): string {
  // A first argument without choices is a queue's name, which has no completion. Without the rule `*: : ` zsh
  // would offer files.
  const first = quoted(choices.length === 0 ? '*: : ' : `1:${name}:(${choices.join(' ')})`);
  const program = `      if (( at < CURRENT )); then
        shift at words
        (( CURRENT -= at ))
        _normal
        return
      fi
`;
  return `    ${name})
${runsProgram ? program : ''}      shift words
      (( CURRENT-- ))
      _arguments ${[...options.map(specOf), first].join(' \\\n        ')} ;;`;
}

function specOf({ long, description, takesValue, choices }: OptionVocabulary): string {
  const value = takesValue ? `:value:${choices.length === 0 ? '' : `(${choices.join(' ')})`}` : '';
  return quoted(`${long}[${description.replace(/[[\]\\:]/g, '\\$&')}]${value}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
