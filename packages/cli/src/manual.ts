import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { exampleLines, explanationOf } from './help.ts';

/** Generates the manual page queuelock(1) in the format of man(7), from the definitions of the commands. */
export function manualOf(program: CommandUnknownOpts): string {
  const name = program.name();
  const lines = [
    `.TH ${name.toUpperCase()} 1 "" "${name} ${program.version() ?? ''}" "User Commands"`,
    '.SH NAME',
    escaped(`${name} - ${lowered(program.description())}`),
    '.SH SYNOPSIS',
    ...program.commands.flatMap((command) => [
      `.B ${escaped(`${name} ${command.name()}`)}`,
      escaped(command.usage()),
      '.br',
    ]),
    '.SH DESCRIPTION',
    ...notesOf(program),
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => sectionOf(name, command)),
    '.SH ENVIRONMENT',
    ...VARIABLES.flatMap(([variable, meaning]) => ['.TP', `.B ${variable}`, escaped(meaning)]),
    '.SH FILES',
    '.TP',
    '.I ~/.config/queuelock/config.json',
    ...FILE.map(escaped),
    '.SH EXAMPLES',
    ...examplesOf(program),
  ];
  return `${lines.join('\n')}\n`;
}

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['QUEUELOCK_URL', 'URL of the store; see DESCRIPTION for the order of precedence'],
  ['QUEUELOCK_PROFILE', 'name of a profile in the configuration'],
  ['QUEUELOCK_CONFIG', 'path of the configuration file'],
  ['QUEUELOCK_USER, QUEUELOCK_PASSWORD', 'user name, if the URL has none'],
  ['QUEUELOCK_PASSWORD_FILE', 'path of a file that contains only the password'],
  ['NO_COLOR, FORCE_COLOR', 'no colours, or colours even if the output is not a terminal'],
];

const FILE: readonly string[] = [
  'The configuration: {"default": NAME, "profiles": {NAME: {"url": URL, "user": USER, "passwordFile": FILE, "ttl": SECONDS, "epoch": N}}}.',
  'Only url is required. With a password in a URL the file must be readable by its owner only.',
];

function sectionOf(program: string, command: CommandUnknownOpts): string[] {
  return [
    `.SS ${escaped(`${program} ${command.name()} ${command.usage()}`)}`,
    escaped(command.description()),
    ...command.registeredArguments.flatMap((argument) => [
      '.TP',
      `.I ${escaped(argument.name())}`,
      escaped(argument.description),
    ]),
    ...command.options.flatMap((option) => [
      '.TP',
      `.B ${escaped(option.flags)}`,
      escaped(meaningOf(option)),
    ]),
    '.PP',
    ...notesOf(command),
    ...examplesOf(command),
  ];
}

function meaningOf({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const facts = [
    ...(argChoices ? [`choices: ${argChoices.join(', ')}`] : []),
    ...(defaultValue === undefined ? [] : [`default: ${defaultValueDescription ?? String(defaultValue)}`]),
  ];
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}

/** Formats the section of notes in a manual page. Indented lines are a table, which is not wrapped. */
function notesOf(command: CommandUnknownOpts): string[] {
  const lines = (explanationOf(command)?.notes ?? '').split('\n');
  return lines.flatMap((line, at) => {
    if (line === '') return ['.PP'];
    const isRow = line.startsWith('  ');
    const wasRow = lines[at - 1]?.startsWith('  ') ?? false;
    const change = isRow === wasRow ? [] : isRow ? ['.RS', '.nf'] : ['.fi', '.RE'];
    const end = isRow && at === lines.length - 1 ? ['.fi', '.RE'] : [];
    return [...change, escaped(line.trimStart()), ...end];
  });
}

function examplesOf(command: CommandUnknownOpts): string[] {
  const explanation = explanationOf(command);
  return explanation ? ['.PP', '.RS', '.nf', ...exampleLines(explanation).map(escaped), '.fi', '.RE'] : [];
}

function lowered(text: string): string {
  return text.replace(/\.$/, '').replace(/^./, (first) => first.toLowerCase());
}

/** Escapes backslashes, hyphens that users type, characters beyond ASCII, and dots at the start of a line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e]/gu, (character) => `\\[u${codeOf(character)}]`)
    .replace(/^[.']/, '\\&$&');
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
