export type { AdvisoryKey } from './advisory-key.ts';
export { fromUrl, migration, postgres, type MigrationOptions } from './backend.ts';
export type { Given, GivenClient, Queryable } from './given.ts';
export type { PostgresOptions } from './options.ts';
export type { Pems } from './tls.ts';
