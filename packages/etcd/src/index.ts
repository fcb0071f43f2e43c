export { etcd } from './backend.ts';
export type { Naming } from './naming.ts';
export type { EtcdOptions } from './options.ts';
export { fromUrl } from './url.ts';
