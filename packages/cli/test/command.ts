import { fileURLToPath } from 'node:url';
import { isBuilt, type Script } from '@queuelock/harness/services/script';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Arguments that start the command `queuelock`. Uses the bundle if this test run has built one, because the
 * bundle starts three times as fast as the sources.
 */
export const command: Script = isBuilt
  ? { script: `${ROOT}packages/cli/bin/queuelock.js`, execArgv: [] }
  : {
      script: `${ROOT}packages/cli/src/main.ts`,
      execArgv: ['--conditions=@queuelock/source', `--import=${ROOT}.ci/tsx.mjs`],
    };
