import { describeBackend } from '@queuelock/conformance';
import postgresJs from 'postgres';
import { harness } from './harness.ts';

describe('@queuelock/postgres over postgres.js', () => {
  describe('by its option driver', () => {
    describeBackend({ ...harness((url) => ({ url, driver: 'postgres' })), atOnce: 4 });
  });

  describe('over a client without prepared statements', () => {
    // The client that is passed to `postgres()` never opens a connection itself.
    describeBackend({
      ...harness((url) => ({ client: postgresJs(url, { prepare: false, onnotice: () => undefined }) })),
      atOnce: 4,
    });
  });
});
