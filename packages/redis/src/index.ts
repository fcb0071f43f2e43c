export { fromUrl, redis } from './backend.ts';
export type { Given } from './driver/given.ts';
export type { RedisOptions } from './api/options.ts';
