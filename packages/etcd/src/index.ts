export { etcd } from './backend.ts';
export type { Naming } from './api/naming.ts';
export type { EtcdPems, EtcdUser } from './api/credentials.ts';
export type { EtcdOptions } from './api/options.ts';
export { fromUrl } from './url.ts';
