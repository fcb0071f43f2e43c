export type { AdvisoryKey } from './advisory/advisory-key.ts';
export { fromUrl, migration, postgres, type MigrationOptions } from './backend.ts';
export type { PgPoolLike, PgClientLike, PgQueryable, Statement } from './driver/pool-like.ts';
export type { PostgresJsLike } from './driver/postgres-js-client.ts';
export type { PostgresOptions } from './api/options.ts';
export type { TlsOptions } from './driver/tls.ts';
