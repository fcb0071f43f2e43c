/* eslint-disable no-restricted-imports -- what is simulated lies behind the door that users have */
import { createLockClient } from '@queuelock/core';
import { etcdOver } from '../../etcd/src/backend.ts';

export type { CallOptions, Channel, ChannelListener, Driver } from '../../etcd/src/driver.ts';
export { GrpcError } from '../../etcd/src/grpc-status.ts';
export { http2Driver } from '../../etcd/src/http2-driver.ts';
export { checkOptions } from '../../etcd/src/options.ts';
export { losesEvents, staleReads } from '../../etcd/src/read-trust.ts';

/** What is looked at: core and backend, as they are or with a mistake in them. */
export interface Product {
  readonly createLockClient: typeof createLockClient;
  readonly etcdOver: typeof etcdOver;
}

/** As it is. */
export const product: Product = { createLockClient, etcdOver };
