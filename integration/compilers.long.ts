import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// The gate has the compiler that builds the packages. Whoever imports sources or declarations may have the one before.
describe('what is written is right', () => {
  for (const project of ['.ci/tsconfig.sources.json', 'packages/dashboard/test'])
    it(`to TypeScript 6 too (${project})`, async () => {
      await promisify(execFile)('node_modules/.bin/tsc6', ['-p', project]);
    }).timeout(600_000);
});
