import type { RootHookObject } from 'mocha';
import { stopShared } from './services.ts';

/** For mocha's `--require`: the servers that test files shared end with the last test. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    await stopShared();
  },
};
