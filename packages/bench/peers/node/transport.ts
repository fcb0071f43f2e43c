import type { EtcdOptions } from '@queuelock/etcd';

/** A value of the option `transport` of `etcd()`. */
export type Transport = NonNullable<EtcdOptions['transport']>;
