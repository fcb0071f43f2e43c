import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../pages/scratch.ts';

const WORKFLOWS = '.github/workflows';

/** A command of a workflow, as its shell gets it. */
export interface WorkflowCommand {
  /** Name of the file: `ci.yml`. */
  readonly workflow: string;
  /** One command line, or all lines of a block of the workflow. */
  readonly text: string;
}

/** Returns the texts of the workflows by the names of their files. */
export function workflows(): ReadonlyMap<string, string> {
  const files = readdirSync(join(ROOT, WORKFLOWS)).filter((name) => name.endsWith('.yml'));
  return new Map(files.map((name) => [name, readFileSync(join(ROOT, WORKFLOWS, name), 'utf8')]));
}

/** Returns the commands of all workflows in their order. */
export function workflowCommands(): readonly WorkflowCommand[] {
  return [...workflows()].flatMap(([workflow, text]) =>
    commandsIn(text).map((command) => ({ workflow, text: command })),
  );
}

/**
 * Returns the commands of a workflow, which are the values of its keys `run`: plain values, and blocks that
 * begin with `|`.
 */
export function commandsIn(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const [, before = '', value = ''] = /^( *(?:- )?)run: (.+)$/.exec(line) ?? [];
    if (value === '') return [];
    return [value === '|' ? blockAfter(lines.slice(at + 1), before.length) : value];
  });
}

function blockAfter(lines: readonly string[], indent: number): string {
  const end = lines.findIndex((line) => line !== '' && line.search(/\S/) <= indent);
  const block = lines.slice(0, end === -1 ? lines.length : end);
  const [first = ''] = block;
  return block
    .map((line) => line.slice(first.search(/\S/)))
    .join('\n')
    .trimEnd();
}

/** Returns the values of a list of a workflow's matrix: `part: [a, b]`. */
export function matrixOf(text: string, name: string): readonly string[] {
  const [, list = ''] = new RegExp(`^ +${name}: \\[(.*)\\]$`, 'm').exec(text) ?? [];
  return list.split(',').map((value) => value.trim());
}

/**
 * Returns the version of pnpm and the script that a command of a workflow runs, or `undefined` for a command
 * without pnpm.
 */
export function pnpmScriptIn(
  command: string,
): { readonly version: string; readonly script: string } | undefined {
  const [, version, script] = /pnpm@(\S+) (?:run --stream )?("[^"]+"|\S+)/.exec(command) ?? [];
  return version === undefined || script === undefined ? undefined : { version, script };
}
