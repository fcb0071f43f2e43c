import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect } from 'chai';
import { bashCompletion } from '../src/completion/bash.ts';
import { fishCompletion } from '../src/completion/fish.ts';
import { vocabularyOf } from '../src/completion/vocabulary.ts';
import { zshCompletion } from '../src/completion/zsh.ts';
import { exampleLines, explanationOf } from '../src/help.ts';
import { manualOf } from '../src/manual.ts';
import { createProgram } from '../src/program.ts';

const program: CommandUnknownOpts = await createProgram();

describe('the command-line program', () => {
  const names = ({ commands }: CommandUnknownOpts): string[] => commands.map((command) => command.name());

  it('loads only the named command', async () => {
    for (const name of names(program).filter((one) => !['completion', 'man'].includes(one)))
      expect(names(await createProgram(name))).to.deep.equal([name]);
  });

  it('loads all commands for an unknown command name, and for help, completion and man', async () => {
    for (const name of ['--help', 'help', 'rnu', 'constructor', 'completion', 'man'])
      expect(names(await createProgram(name)), name).to.deep.equal(names(program));
  });
});

describe('the help', () => {
  for (const command of [program, ...program.commands]) {
    it(`has examples that use only existing options for queuelock ${command.name()}`, () => {
      const explanation = explanationOf(command);
      const lines = explanation ? exampleLines(explanation) : [];
      expect(lines).to.not.deep.equal([]);
      for (const line of lines.filter((text) => /\bqueuelock \w/.test(text))) {
        const [, name = '', rest = ''] = /\bqueuelock (\w+)([^|<>#]*)/.exec(line) ?? [];
        const known = program.commands
          .find((other) => other.name() === name)
          ?.options.map(({ long }) => long);
        const [own = ''] = rest.split(/ -- /);
        expect(known, line).to.include.members([...own.matchAll(/ (--[a-z-]+)/g)].map(([, long]) => long));
      }
    });
  }

  it('explains how to select the server, for every command that needs one', () => {
    const withoutServer = ['completion', 'man'];
    for (const command of program.commands.filter((other) => !withoutServer.includes(other.name()))) {
      const options = command.options.map(({ long }) => long);
      expect(options, command.name()).to.include.members(['--backend', '--profile', '--verbose']);
    }
  });
});

describe('the manual page', () => {
  it('matches the commands, and `queuelock man` prints it', () => {
    const file = new URL('../man/queuelock.1', import.meta.url);
    expect(readFileSync(file, 'utf8')).to.equal(manualOf(program));
  });

  it('is plain ASCII, and no line of its text begins like a formatting request of man', () => {
    const lines = manualOf(program).trimEnd().split('\n');
    expect(lines.filter((line) => /[^\x20-\x7e]/.test(line))).to.deep.equal([]);
    const requests = lines.flatMap((line) => /^[.'](\S*)/.exec(line)?.[1] ?? []);
    expect(new Set(requests)).to.deep.equal(
      new Set(['TH', 'SH', 'SS', 'B', 'I', 'br', 'TP', 'PP', 'RS', 'RE', 'nf', 'fi']),
    );
  });
});

describe('shell completion', () => {
  let directory: string;
  let file: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-completion-'));
    file = join(directory, 'script');
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  const vocabulary = vocabularyOf(program);
  const completed = (...words: readonly string[]): string[] => {
    const script = `${bashCompletion(vocabulary)}
      COMP_WORDS=(queuelock "$@"); COMP_CWORD=$#; _queuelock; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
  };

  it('completes in bash the commands, options and values, and the program to run', () => {
    expect(completed('r')).to.deep.equal(['run']);
    expect(completed('run', 'a', '--on')).to.deep.equal(['--on-loss']);
    expect(completed('run', 'a', '--on-loss', '')).to.deep.equal(['stop', 'continue']);
    expect(completed('run', 'a', '--wait', '')).to.deep.equal([]);
    expect(completed('run', 'a', '--', 'bas')).to.include('bash');
    expect(completed('run', 'a', '--', 'ls', '/de')).to.include('/dev');
    expect(completed('completion', 'f')).to.deep.equal(['fish']);
  });

  for (const [shell, script] of Object.entries({
    bash: bashCompletion(vocabulary),
    zsh: zshCompletion(vocabulary),
    fish: fishCompletion(vocabulary),
  })) {
    it(`is a script that ${shell} can parse`, function () {
      try {
        writeFileSync(file, script);
        execFileSync(shell, ['-n', file], { stdio: 'pipe' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        this['skipReason'] = `there is no ${shell} here`;
        this.skip();
      }
    });
  }
});
