// The tests of packages/recipes are imported by path, because no package exports them.
/* eslint-disable no-restricted-imports */
import { fairShareFacts } from '../../packages/recipes/test/facts/fair-share.ts';
import { callerContextFacts } from '../../packages/recipes/test/facts/caller-context.ts';
import { describeRecipes } from '../../packages/recipes/test/frame.ts';
/* eslint-enable no-restricted-imports */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlite } from '@queuelock/sqlite';
import { firstValueFrom } from 'rxjs';

describe('recipes on a separate SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queuelock-recipes-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const connect = (): ReturnType<typeof sqlite> => sqlite({ file: join(folder, 'locks.db') });

  describeRecipes(
    'sqlite',
    async () => ({
      ...{ name: 'sqlite', ttlMs: 2_000, expiryMs: 1_000, connect },
      line: () => Promise.reject(new Error('no connection of SQLite can be cut')),
      leftovers: async (queue) => {
        const backend = connect();
        const entries = await firstValueFrom(backend.observe(queue));
        await backend.close();
        return entries.map(({ key }) => key);
      },
    }),
    [
      { recipe: "the caller's context", facts: callerContextFacts },
      { recipe: 'a fair share', facts: fairShareFacts },
    ],
  );
});
