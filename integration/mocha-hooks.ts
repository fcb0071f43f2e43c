import fc from 'fast-check';
import type { RootHookObject } from 'mocha';
import { stopShared } from '@queuelock/harness/services';

// Property tests of `pnpm test` use the same random values every time, and those of the long run use new
// ones.
fc.configureGlobal({ seed: Number(process.env['QUEUELOCK_SEED'] ?? 1) });

/**
 * Hooks that mocha runs for all test files, by its option `--require`. They end the shared servers after the
 * last test.
 */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    await stopShared();
  },
};
