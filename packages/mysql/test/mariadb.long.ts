import { describeBackend, type BackendHarness } from '@queuelock/conformance';
import { createPool, type Pool } from 'mariadb';
import { harness } from './harness.ts';

const inGroups = (of: BackendHarness): BackendHarness => ({ ...of, expiryGranularityMs: 8_000, atOnce: 4 });

describe('@queuelock/mysql over npm mariadb', () => {
  describe('by its option driver', () => {
    describeBackend(inGroups(harness((url) => ({ url, driver: 'mariadb' }))));
  });

  describe('over a pool with options that change replies', () => {
    let pool: Pool | undefined;
    after(() => pool?.end());
    describeBackend(
      inGroups(
        harness((url) => {
          const { hostname, port, username, pathname } = new URL(url);
          pool ??= createPool({
            ...{ host: hostname, port: Number(port), user: username, database: pathname.slice(1) },
            // Many backends of one test share the pool, and each keeps two connections of it.
            ...{ connectionLimit: 100, minimumIdle: 1 },
            ...{ rowsAsArray: true, bigIntAsNumber: true, decimalAsNumber: true },
            ...{ dateStrings: true, insertIdAsNumber: true, checkNumberRange: false, nestTables: true },
          });
          return { pool };
        }),
      ),
    );
  });
});
