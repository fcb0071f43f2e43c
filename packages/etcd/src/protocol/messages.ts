// Folder "protocol": declares the messages that this package exchanges with etcd.
// They are the messages of rpc.proto and kv.proto of version 3.4 that this package sends or reads. Names and shapes are those of npm etcd3,
// so both transports and the tests can exchange them. They are declared here because that package need not be installed. 64-bit numbers are
// decimal text in responses.

/** A number of 64 bits in a request: a JavaScript number or decimal text. */
type Int64 = string | number;

/** The header of a response. The ids of cluster and member are not decoded, to save time, since every response has both. */
export interface IResponseHeader {
  revision: string;
  raft_term: string;
}

export interface IKeyValue {
  key: Buffer;
  create_revision: string;
  mod_revision: string;
  version: string;
  value: Buffer;
  lease: string;
}

export interface IRangeRequest {
  key?: Buffer;
  range_end?: Buffer;
  limit?: Int64;
  revision?: Int64;
  sort_order?: 'None' | 'Ascend' | 'Descend';
  sort_target?: 'Key' | 'Version' | 'Create' | 'Mod' | 'Value';
  serializable?: boolean;
  keys_only?: boolean;
  count_only?: boolean;
  min_mod_revision?: Int64;
  max_mod_revision?: Int64;
  min_create_revision?: Int64;
  max_create_revision?: Int64;
}

export interface IRangeResponse {
  header: IResponseHeader;
  kvs: IKeyValue[];
  more: boolean;
  count: string;
}

export interface IPutRequest {
  key?: Buffer;
  value?: Buffer;
  lease?: Int64;
  prev_kv?: boolean;
  ignore_value?: boolean;
  ignore_lease?: boolean;
}

export interface IPutResponse {
  header: IResponseHeader;
  prev_kv: IKeyValue;
}

export interface IDeleteRangeRequest {
  key?: Buffer;
  range_end?: Buffer;
  prev_kv?: boolean;
}

export interface IDeleteRangeResponse {
  header: IResponseHeader;
  deleted: string;
  prev_kvs: IKeyValue[];
}

/** One operation of a transaction: one of the properties is set. */
export interface IRequestOp {
  request_range?: IRangeRequest;
  request_put?: IPutRequest;
  request_delete_range?: IDeleteRangeRequest;
  request_txn?: ITxnRequest;
}

/** The response to one operation of a transaction: the property of that operation is set. */
export interface IResponseOp {
  response_range: IRangeResponse;
  response_put: IPutResponse;
  response_delete_range: IDeleteRangeResponse;
  response_txn: ITxnResponse;
}

export interface ICompare {
  result?: 'Equal' | 'Greater' | 'Less' | 'NotEqual';
  target?: 'Version' | 'Create' | 'Mod' | 'Value' | 'Lease';
  key?: Buffer;
  version?: Int64;
  create_revision?: Int64;
  mod_revision?: Int64;
  value?: Buffer;
  lease?: Int64;
  range_end?: Buffer;
}

export interface ITxnRequest {
  compare?: ICompare[];
  success?: IRequestOp[];
  failure?: IRequestOp[];
}

export interface ITxnResponse {
  header: IResponseHeader;
  succeeded: boolean;
  responses: IResponseOp[];
}

export interface IWatchCreateRequest {
  key?: Buffer;
  range_end?: Buffer;
  start_revision?: Int64;
  progress_notify?: boolean;
  filters?: ('Noput' | 'Nodelete')[];
  prev_kv?: boolean;
  watch_id?: Int64;
  fragment?: boolean;
}

export interface IWatchCancelRequest {
  watch_id?: Int64;
}

/** A request on a watch stream. Exactly one property is set. */
export interface IWatchRequest {
  create_request?: IWatchCreateRequest;
  cancel_request?: IWatchCancelRequest;
  progress_request?: object;
}

export interface IEvent {
  type: 'Put' | 'Delete';
  kv: IKeyValue;
  prev_kv: IKeyValue;
}

export interface IWatchResponse {
  header: IResponseHeader;
  watch_id: string;
  created: boolean;
  canceled: boolean;
  compact_revision: string;
  cancel_reason: string;
  fragment: boolean;
  events: IEvent[];
}

export interface ILeaseGrantRequest {
  TTL?: Int64;
  ID?: Int64;
}

export interface ILeaseGrantResponse {
  header: IResponseHeader;
  ID: string;
  TTL: string;
  error: string;
}

export interface ILeaseRevokeRequest {
  ID?: Int64;
}

export interface ILeaseKeepAliveRequest {
  ID?: Int64;
}

export interface ILeaseKeepAliveResponse {
  header: IResponseHeader;
  ID: string;
  TTL: string;
}

export interface ILeaseTimeToLiveRequest {
  ID?: Int64;
  keys?: boolean;
}

export interface ILeaseTimeToLiveResponse {
  header: IResponseHeader;
  ID: string;
  TTL: string;
  grantedTTL: string;
  keys: Buffer[];
}

export interface IStatusResponse {
  header: IResponseHeader & { member_id: string };
  version: string;
  dbSize: string;
  leader: string;
  raftIndex: string;
  raftTerm: string;
  raftAppliedIndex: string;
  errors: string[];
  dbSizeInUse: string;
  isLearner: boolean;
}
