import type {
  ICompare,
  IDeleteRangeRequest,
  ILeaseGrantRequest,
  ILeaseKeepAliveRequest,
  ILeaseRevokeRequest,
  ILeaseTimeToLiveRequest,
  IPutRequest,
  IRangeRequest,
  IRequestOp,
  ITxnRequest,
  IWatchCancelRequest,
  IWatchCreateRequest,
  IWatchRequest,
} from '../protocol/messages.ts';
import {
  encoder,
  putBool,
  putBytes,
  putChoice,
  putEach,
  putInt64,
  putMessage,
  putText,
  type Encode,
} from './wire-write.ts';

// The numbers of fields and enumerations are those of etcd's rpc.proto.

export const rangeRequest: Encode<IRangeRequest> = encoder<IRangeRequest>({
  key: putBytes(1),
  range_end: putBytes(2),
  limit: putInt64(3),
  revision: putInt64(4),
  sort_order: putChoice(5, ['None', 'Ascend', 'Descend']),
  sort_target: putChoice(6, ['Key', 'Version', 'Create', 'Mod', 'Value']),
  serializable: putBool(7),
  keys_only: putBool(8),
  count_only: putBool(9),
  min_mod_revision: putInt64(10),
  max_mod_revision: putInt64(11),
  min_create_revision: putInt64(12),
  max_create_revision: putInt64(13),
});

export const putRequest: Encode<IPutRequest> = encoder<IPutRequest>({
  key: putBytes(1),
  value: putBytes(2),
  lease: putInt64(3),
  prev_kv: putBool(4),
  ignore_value: putBool(5),
  ignore_lease: putBool(6),
});

export const deleteRangeRequest: Encode<IDeleteRangeRequest> = encoder<IDeleteRangeRequest>({
  key: putBytes(1),
  range_end: putBytes(2),
  prev_kv: putBool(3),
});

const compare: Encode<ICompare> = encoder<ICompare>({
  result: putChoice(1, ['Equal', 'Greater', 'Less', 'NotEqual']),
  target: putChoice(2, ['Version', 'Create', 'Mod', 'Value', 'Lease']),
  key: putBytes(3),
  version: putInt64(4),
  create_revision: putInt64(5),
  mod_revision: putInt64(6),
  value: putBytes(7),
  lease: putInt64(8),
  range_end: putBytes(64),
});

const requestOp: Encode<IRequestOp> = encoder<IRequestOp>({
  request_range: putMessage(1, () => rangeRequest),
  request_put: putMessage(2, () => putRequest),
  request_delete_range: putMessage(3, () => deleteRangeRequest),
  request_txn: putMessage(4, () => txnRequest),
});

export const txnRequest: Encode<ITxnRequest> = encoder<ITxnRequest>({
  compare: putEach(putMessage(1, () => compare)),
  success: putEach(putMessage(2, () => requestOp)),
  failure: putEach(putMessage(3, () => requestOp)),
});

export const leaseGrantRequest: Encode<ILeaseGrantRequest> = encoder<ILeaseGrantRequest>({
  TTL: putInt64(1),
  ID: putInt64(2),
});

export const leaseRevokeRequest: Encode<ILeaseRevokeRequest> = encoder<ILeaseRevokeRequest>({
  ID: putInt64(1),
});

export const leaseTimeToLiveRequest: Encode<ILeaseTimeToLiveRequest> = encoder<ILeaseTimeToLiveRequest>({
  ID: putInt64(1),
  keys: putBool(2),
});

export const leaseKeepAliveRequest: Encode<ILeaseKeepAliveRequest> = encoder<ILeaseKeepAliveRequest>({
  ID: putInt64(1),
});

const watchCreateRequest: Encode<IWatchCreateRequest> = encoder<IWatchCreateRequest>({
  key: putBytes(1),
  range_end: putBytes(2),
  start_revision: putInt64(3),
  progress_notify: putBool(4),
  filters: putEach(putChoice(5, ['Noput', 'Nodelete'])),
  prev_kv: putBool(6),
  watch_id: putInt64(7),
  fragment: putBool(8),
});

const watchCancelRequest: Encode<IWatchCancelRequest> = encoder<IWatchCancelRequest>({
  watch_id: putInt64(1),
});

export const watchRequest: Encode<IWatchRequest> = encoder<IWatchRequest>({
  create_request: putMessage(1, () => watchCreateRequest),
  cancel_request: putMessage(2, () => watchCancelRequest),
  progress_request: putMessage(3, () => nothing),
});

/** A message without fields. */
export const nothing: Encode<object> = encoder<object>({});

/** The request of a log-in. */
export const authenticateRequest: Encode<{ readonly name: string; readonly password: string }> = encoder<{
  readonly name: string;
  readonly password: string;
}>({
  name: putText(1),
  password: putText(2),
});
