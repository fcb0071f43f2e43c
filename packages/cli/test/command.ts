import { fileURLToPath } from 'node:url';
import { isBuilt, type Script } from '@queuelock/harness/services/script';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** How to start the command `queuelock`: as users have it where all was built for this run, which starts three times as fast; else from the sources. */
export const command: Script = isBuilt
  ? { script: `${ROOT}packages/cli/bin/queuelock.js`, execArgv: [] }
  : {
      script: `${ROOT}packages/cli/src/main.ts`,
      execArgv: ['--conditions=@queuelock/source', `--import=${ROOT}.ci/tsx.mjs`],
    };
