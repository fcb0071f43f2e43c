import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The commands with options. Some scripts of package.json build the packages first, which these tests leave out. */
const COMMANDS = ['chaos', 'bench', 'interop', 'wpt', 'fuzz', 'simulate', 'differential', 'trials'];

interface Exit {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('each command of the repository', function () {
  this.timeout(60_000);

  for (const command of COMMANDS) {
    it(`prints its help and ends with 0 when the option is --help (${command})`, async () => {
      const { code, stdout } = await exitOf(command, '--help');
      expect(stdout).to.match(new RegExp(`^(Usage: )?pnpm ${command} `));
      expect(code).to.equal(0);
    });

    it(`names an unknown option and ends with 2 (${command})`, async () => {
      const { code, stderr } = await exitOf(command, '--unknown');
      expect(stderr).to.contain('--unknown').and.not.contain('    at ');
      expect(code).to.equal(2);
    });
  }
});

function exitOf(command: string, argument: string): Promise<Exit> {
  const words = scripts[command]!.split(' && ').at(-1)!.split(' ');
  const args = words.slice(words.indexOf('node') + 1);
  return run(process.execPath, [...args, argument], { cwd: ROOT }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Exit,
  );
}
