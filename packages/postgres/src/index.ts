export type { AdvisoryKey } from './advisory/advisory-key.ts';
export { fromUrl, migration, postgres, type MigrationOptions } from './backend.ts';
export type { Given, GivenClient, Queryable, Statement } from './driver/given.ts';
export type { PostgresOptions } from './api/options.ts';
export type { Pems } from './driver/tls.ts';
