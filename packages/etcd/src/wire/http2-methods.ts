import type {
  IDeleteRangeRequest,
  IDeleteRangeResponse,
  ILeaseGrantRequest,
  ILeaseGrantResponse,
  ILeaseKeepAliveRequest,
  ILeaseKeepAliveResponse,
  ILeaseRevokeRequest,
  ILeaseTimeToLiveRequest,
  ILeaseTimeToLiveResponse,
  IPutRequest,
  IPutResponse,
  IRangeRequest,
  IRangeResponse,
  IStatusResponse,
  ITxnRequest,
  ITxnResponse,
  IWatchRequest,
  IWatchResponse,
} from '../protocol/messages.ts';
import type { Decode } from './wire-read.ts';
import * as requests from './wire-requests.ts';
import * as responses from './wire-responses.ts';
import type { Encode } from './wire-write.ts';

/** One method of etcd's gRPC API: its path, and how its messages are written and read. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly encode: Encode<Request>;
  readonly decode: Decode<Response>;
  /** Whether a response of the method may have many rows. The call then reads it while it arrives. */
  readonly isLong?: boolean;
}

export const range: Method<IRangeRequest, IRangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  encode: requests.rangeRequest,
  decode: responses.rangeResponse,
  isLong: true,
};

export const put: Method<IPutRequest, IPutResponse> = {
  path: '/etcdserverpb.KV/Put',
  encode: requests.putRequest,
  decode: responses.putResponse,
};

export const deleteRange: Method<IDeleteRangeRequest, IDeleteRangeResponse> = {
  path: '/etcdserverpb.KV/DeleteRange',
  encode: requests.deleteRangeRequest,
  decode: responses.deleteRangeResponse,
};

export const txn: Method<ITxnRequest, ITxnResponse> = {
  path: '/etcdserverpb.KV/Txn',
  encode: requests.txnRequest,
  decode: responses.txnResponse,
};

export const leaseGrant: Method<ILeaseGrantRequest, ILeaseGrantResponse> = {
  path: '/etcdserverpb.Lease/LeaseGrant',
  encode: requests.leaseGrantRequest,
  decode: responses.leaseGrantResponse,
};

export const leaseRevoke: Method<ILeaseRevokeRequest, object> = {
  path: '/etcdserverpb.Lease/LeaseRevoke',
  encode: requests.leaseRevokeRequest,
  decode: responses.anything,
};

export const leaseTimeToLive: Method<ILeaseTimeToLiveRequest, ILeaseTimeToLiveResponse> = {
  path: '/etcdserverpb.Lease/LeaseTimeToLive',
  encode: requests.leaseTimeToLiveRequest,
  decode: responses.leaseTimeToLiveResponse,
};

export const status: Method<object, IStatusResponse> = {
  path: '/etcdserverpb.Maintenance/Status',
  encode: requests.nothing,
  decode: responses.statusResponse,
};

export const authenticate: Method<
  { readonly name: string; readonly password: string },
  { readonly token: string }
> = {
  path: '/etcdserverpb.Auth/Authenticate',
  encode: requests.authenticateRequest,
  decode: responses.authenticateResponse,
};

export const watch: Method<IWatchRequest, IWatchResponse> = {
  path: '/etcdserverpb.Watch/Watch',
  encode: requests.watchRequest,
  decode: responses.watchResponse,
};

export const keepAlive: Method<ILeaseKeepAliveRequest, ILeaseKeepAliveResponse> = {
  path: '/etcdserverpb.Lease/LeaseKeepAlive',
  encode: requests.leaseKeepAliveRequest,
  decode: responses.leaseKeepAliveResponse,
};
