export type { FencingHold } from './hold.ts';
export { expectAccepted, type AnyFenceOutcome } from './expect-accepted.ts';
export type { FenceOutcome, FenceRefused } from './outcome.ts';
export { compareEpochTokens, decodeEpochToken, encodeEpochToken, type EpochToken } from './epoch.ts';
export { consulOutcome, heldInConsul, type ConsulOperation, type ConsulTxnResponse } from './consul.ts';
export { etcdOutcome, etcdCompare, heldInEtcd, type EtcdCompare } from './etcd.ts';
export type { Znode, ZnodeClient } from './znode/client.ts';
export { decodeFencedData, encodeFencedData, type FencedData } from './znode/data.ts';
export { fencedZnode, type FencedZnode } from './znode/fenced-znode.ts';
export { npmZookeeper, type NpmZookeeperOptions, type NpmZookeeperSession } from './znode/npm-zookeeper.ts';
export { isAccepted, type SqlResult } from './sql/accepted.ts';
export type { SqlDialect, SqlTable } from './sql/dialect.ts';
export { fencedUpdate, type FencedUpdate } from './sql/fenced-update.ts';
export { sqlFences, type SqlFences } from './sql/fences.ts';
export { sqlOutcome, type SqlOutcome, type SqlQuery } from './sql/sql-outcome.ts';
export type { FenceClaim, FencedStatement, SqlStatement } from './sql/statement.ts';
export {
  FENCING_NAME,
  FENCING_TOKEN,
  fencingHeaders,
  readFencingHeaders,
  type FencingClaim,
  type FencingFault,
  type FencingHeaderOptions,
  type HeaderGetter,
} from './http/headers.ts';
export { memoryMaxima, type Maxima, type MemoryMaxima, type MemoryMaximaOptions } from './http/maxima.ts';
export {
  createFencingGate,
  type FencingAccepted,
  type FencingGate,
  type FencingGateOptions,
  type FencingRefusal,
  type FencingTarget,
} from './http/gate.ts';
export { httpOutcome, type HttpOutcome } from './http/http-outcome.ts';
export { headersOf, refusalResponse, refuseRequest, sendRefusal } from './http/refusals.ts';
