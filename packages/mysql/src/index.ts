export { fromUrl, mysql } from './backend.ts';
export type { MysqlOptions } from './options.ts';
export type { GivenConnection, GivenPool } from './pool-driver.ts';
export { migration } from './schema/migration.ts';
