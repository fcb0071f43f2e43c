export { fromUrl, mysql } from './backend.ts';
export type { MysqlOptions } from './api/options.ts';
export type { MysqlConnectionLike, MysqlPoolLike, Statement } from './driver/pool-driver.ts';
export { migration } from './schema/migration.ts';
