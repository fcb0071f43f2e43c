// The modules of other packages that this test needs are imported by path, because no package exports them:
// tests of recipes, and an operator of Consul.
/* eslint-disable no-restricted-imports */
import { Keys } from '../../packages/consul/src/queue/keys.ts';
import { Operator } from '../../packages/consul/test/operator.ts';
import { throwingCallbackFacts } from '../../packages/recipes/test/facts/throwing-callbacks.ts';
import { describeRecipes } from '../../packages/recipes/test/frame.ts';
/* eslint-enable no-restricted-imports */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consul } from '@queuelock/consul';
import { startProxy } from '@queuelock/harness/faults';
import { sharedConsul } from '@queuelock/harness/services';
import { sqlite } from '@queuelock/sqlite';
import { firstValueFrom } from 'rxjs';
import { lineThrough } from './sites.ts';

const facts = [{ recipe: 'callbacks that throw', facts: throwingCallbackFacts }];
const PREFIX = 'throwing-callbacks/';

describe('callbacks that throw on a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queuelock-callbacks-'));
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
    facts,
  );
});

describe('callbacks that throw on Consul', () => {
  describeRecipes(
    'consul',
    async () => {
      const { endpoint } = await sharedConsul('callbacks that throw');
      const connect = (at: string): ReturnType<typeof consul> =>
        consul({ hosts: at, prefix: PREFIX, minTtlMs: 100 });
      return {
        ...{ name: 'consul', ttlMs: 1_000, expiryMs: 2_000 },
        connect: () => connect(endpoint),
        line: async () => lineThrough(await startProxy(endpoint), connect),
        leftovers: (queue) => new Operator(endpoint).keysUnder(new Keys(PREFIX).queue(queue)),
      };
    },
    facts,
  );
});
