export { fromUrl, redis } from './backend.ts';
export type { Given } from './given.ts';
export type { RedisOptions } from './options.ts';
