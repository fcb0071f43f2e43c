import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// `pnpm test` uses the compiler that builds the packages. Users who compile against the sources or
// declarations may have the previous major version.
describe('the sources of all packages', () => {
  for (const project of ['.ci/tsconfig.sources.json', 'packages/dashboard/test'])
    it(`compile with TypeScript 6 under the configuration ${project}`, async () => {
      await promisify(execFile)('node_modules/.bin/tsc6', ['-p', project]);
    }).timeout(600_000);
});
