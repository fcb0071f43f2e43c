export { consul, fromUrl } from './backend.ts';
export type { ConsulOptions } from './api/options.ts';
