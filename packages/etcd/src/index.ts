export { etcd } from './backend.ts';
export type { Naming } from './api/naming.ts';
export type { EtcdPems, EtcdUser } from './api/credentials.ts';
export type { Etcd3ClientLike } from './api/etcd3-client.ts';
export type { EtcdOptions, GrpcChannelOptions } from './api/options.ts';
export { fromUrl } from './url.ts';
