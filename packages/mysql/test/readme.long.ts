import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OwnServer } from './servers.ts';

const run = promisify(execFile);

describe('the first example of the manual of MySQL', () => {
  const own = new OwnServer();

  it('runs as it stands', async () => {
    const [, example = ''] = /```ts\n(.*?)```/s.exec(readFileSync('packages/mysql/README.md', 'utf8')) ?? [];
    expect(example).to.contain('127.0.0.1:3306');
    const scratch = mkdtempSync(join('integration', 'node_modules', '.readme-'));
    const file = join(scratch, 'mysql.mts');
    writeFileSync(file, example.replace(/mysql:[^']+/, own.url));
    try {
      const loader = ['--conditions=@queuelock/source', '--import', './.ci/tsx.mjs'];
      const { stdout, stderr } = await run(process.execPath, [...loader, file], { timeout: 60_000 });
      expect(stderr).to.equal('');
      expect(stdout).to.match(/fencing token \d+, lost: false/);
    } finally {
      rmSync(scratch, { recursive: true });
    }
  }).timeout(70_000);
});
