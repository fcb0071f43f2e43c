/* eslint-disable no-restricted-imports -- what is simulated lies behind the door that users have */
import { createLockClient } from '@queuelock/core';
import { cohort, doubleBarrier, election, latch, oncePer, semaphore } from '@queuelock/recipes';
export type { Backend } from '@queuelock/core/backend';
import { etcdOver } from '../../etcd/src/backend.ts';
import { ZooKeeperBackend } from '../../zookeeper/src/backend.ts';
import { settingsOf } from '../../zookeeper/src/api/options.ts';

export type {
  IEvent,
  IRangeRequest,
  IRequestOp,
  ITxnRequest,
  IWatchResponse,
} from '../../etcd/src/protocol/messages.ts';
export type { CallOptions, Channel, ChannelListener, Driver } from '../../etcd/src/driver/driver.ts';
export { GrpcError } from '../../etcd/src/driver/grpc-status.ts';
export { http2Driver } from '../../etcd/src/wire/http2-driver.ts';
export { checkOptions } from '../../etcd/src/api/options.ts';
export { losesEvents, staleReads } from '../../etcd/src/server/read-trust.ts';

export type { Dial, Dialled } from '../../zookeeper/src/wire/dial.ts';
export { dial } from '../../zookeeper/src/wire/dial.ts';
export { framed } from '../../zookeeper/src/wire/frames.ts';
export { JuteReader } from '../../zookeeper/src/wire/jute-read.ts';
export { JuteWriter } from '../../zookeeper/src/wire/jute-write.ts';
export { WireLink } from '../../zookeeper/src/wire/link.ts';
export { multi } from '../../zookeeper/src/wire/multi.ts';
export * as nodeRequests from '../../zookeeper/src/wire/node-requests.ts';
export { OpCode } from '../../zookeeper/src/wire/op-code.ts';
export type { WireStat } from '../../zookeeper/src/wire/records.ts';
export type { WireRequest } from '../../zookeeper/src/wire/request.ts';
export { closeSession } from '../../zookeeper/src/wire/session-requests.ts';

/**
 * The code under test: core, backends and recipes. A mutation test uses a copy of them with one seeded
 * defect.
 */
export interface Product {
  readonly createLockClient: typeof createLockClient;
  readonly etcdOver: typeof etcdOver;
  readonly ZooKeeperBackend: typeof ZooKeeperBackend;
  readonly settingsOf: typeof settingsOf;
  readonly recipes: Recipes;
}

export interface Recipes {
  readonly election: typeof election;
  readonly cohort: typeof cohort;
  readonly semaphore: typeof semaphore;
  readonly doubleBarrier: typeof doubleBarrier;
  readonly oncePer: typeof oncePer;
  readonly latch: typeof latch;
}

/** The original code under test, without a seeded defect. */
export const product: Product = {
  ...{ createLockClient, etcdOver, ZooKeeperBackend, settingsOf },
  recipes: { election, cohort, semaphore, doubleBarrier, oncePer, latch },
};
