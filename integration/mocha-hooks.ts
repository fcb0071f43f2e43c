import fc from 'fast-check';
import type { RootHookObject } from 'mocha';
import { stopShared } from '@queuelock/harness/services';

// Property tests of the gate use the same values every time. The long run uses others.
fc.configureGlobal({ seed: Number(process.env['QUEUELOCK_SEED'] ?? 1) });

/** Hooks for mocha's `--require`. They end the shared servers after the last test. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    await stopShared();
  },
};
