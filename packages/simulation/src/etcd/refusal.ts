import { GrpcError } from '../product.ts';

/** Makes the errors with which an etcd server rejects requests. */
export const refusal = {
  compacted: () => new GrpcError('OUT_OF_RANGE', 'etcdserver: mvcc: required revision has been compacted'),
  future: () => new GrpcError('OUT_OF_RANGE', 'etcdserver: mvcc: required revision is a future revision'),
  noLease: () => new GrpcError('NOT_FOUND', 'etcdserver: requested lease not found'),
  leaseExists: () => new GrpcError('FAILED_PRECONDITION', 'etcdserver: lease already exists'),
  noKey: () => new GrpcError('INVALID_ARGUMENT', 'etcdserver: key not found'),
  noLeader: () => new GrpcError('UNAVAILABLE', 'etcdserver: no leader'),
  denied: () => new GrpcError('PERMISSION_DENIED', 'etcdserver: permission denied'),
  timedOut: () => new GrpcError('UNAVAILABLE', 'etcdserver: request timed out'),
} as const;
