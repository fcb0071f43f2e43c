export { fromUrl, redis } from './backend.ts';
export type { RedisClientLike } from './driver/client-like.ts';
export type { RedisOptions } from './api/options.ts';
