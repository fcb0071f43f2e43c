import fc from 'fast-check';
import type { RootHookObject } from 'mocha';
import { stopShared } from '@queuelock/harness/services';

// Property tests use the same values every time; the long run uses others.
fc.configureGlobal({ seed: Number(process.env['QUEUELOCK_SEED'] ?? 1) });

/** Hooks for mocha's `--require`: shared servers end with the last test. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    await stopShared();
  },
};
