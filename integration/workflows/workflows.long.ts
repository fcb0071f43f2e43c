import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../pages/scratch.ts';
import { workflowCommands } from './commands.ts';

const run = promisify(execFile);
const WITHIN_MS = 30 * 60_000;
/** Number of characters of the output of a failed command that are shown. */
const MAX_SHOWN = 4_000;

/** Commands that this test does not run, with the reason. All other commands of the workflows run. */
const LEFT_OUT: readonly (readonly [command: RegExp, why: string])[] = [
  [/\.ci\/run$/, 'runs the checks and these tests'],
  [/ test(:long .*)?$/, 'runs these tests'],
  [/git push|gh release/, 'changes the repository on GitHub'],
];

/**
 * For each script that would have effects outside of the clone, the command without such effects that the
 * test runs instead.
 */
const DRY = new Map([['release:publish', 'release:publish --dry-run']]);

function isLeftOut(command: string): boolean {
  return LEFT_OUT.some(([pattern]) => pattern.test(command));
}

function dryOf(command: string): string {
  return [...DRY].reduce((text, [script, dry]) => text.replace(script, dry), command);
}

describe('commands of the GitHub workflows in a fresh clone', function () {
  this.timeout(WITHIN_MS);
  let clone: string;
  let output: string;

  before(async function () {
    if (!existsSync(join(ROOT, '.git'))) {
      this['skipReason'] = 'needs a git repository';
      return this.skip();
    }
    clone = await mkdtemp(join(tmpdir(), 'queuelock-clone-'));
    await run('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
    output = join(clone, 'github-output');
  });
  // Resets the clone of the repository, since each job of a workflow begins with a new checkout. Keeps files
  // that git ignores, since an installation takes long.
  beforeEach(async () => {
    await run('git', ['reset', '--quiet', '--hard'], { cwd: clone });
    await run('git', ['clean', '--quiet', '-fd'], { cwd: clone });
  });
  after(() => rm(clone, { recursive: true, force: true }));

  /**
   * Runs a command of a workflow in a clone of the repository. Rejects with the end of the command's output
   * if it fails.
   */
  async function runInClone(command: string): Promise<void> {
    const { PATH, HOME } = process.env;
    // Uses one pipe for stdout and stderr, because a check may print its findings to either.
    await run('bash', ['-e', '-c', `exec 2>&1\n${command}`], {
      cwd: clone,
      env: { PATH, HOME, CI: 'true', GITHUB_OUTPUT: output },
      timeout: WITHIN_MS,
      maxBuffer: 2 ** 28,
    }).catch((error: unknown) => {
      const printed = String(Reflect.get(Object(error), 'stdout'));
      throw new Error(`${command} failed:\n${printed.slice(-MAX_SHOWN)}`, { cause: error });
    });
  }

  const commands = new Set(workflowCommands().map(({ text }) => text));
  for (const command of [...commands].filter((text) => !isLeftOut(text)))
    it(`end with exit code 0: ${dryOf(command)}`, async () => {
      await writeFile(output, '');
      await runInClone(dryOf(command));
      if (command.includes('GITHUB_OUTPUT'))
        expect(await readFile(output, 'utf8')).to.match(/^changesets=\d+\n$/);
    });
});
