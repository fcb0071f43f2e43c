export { fromUrl, mysql } from './backend.ts';
export type { MysqlOptions } from './api/options.ts';
export type { GivenConnection, GivenPool, Statement } from './driver/pool-driver.ts';
export { migration } from './schema/migration.ts';
