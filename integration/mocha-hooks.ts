import fc from 'fast-check';
import type { RootHookObject } from 'mocha';
import { stopShared } from '@queuelock/harness/services';

// Properties are asked with the same values every time; the long run takes others.
fc.configureGlobal({ seed: Number(process.env['QUEUELOCK_SEED'] ?? 1) });

/** For mocha's `--require`: the servers that test files shared end with the last test. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    await stopShared();
  },
};
