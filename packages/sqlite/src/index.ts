export { sqlite, type SqliteOptions } from './backend.ts';
export { fromUrl } from './url.ts';
