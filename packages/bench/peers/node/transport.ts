import type { EtcdOptions } from '@queuelock/etcd';

/** A transport of `etcd()`. */
export type Transport = NonNullable<EtcdOptions['transport']>;
