import type {
  IDeleteRangeResponse,
  IEvent,
  IKeyValue,
  ILeaseGrantResponse,
  ILeaseKeepAliveResponse,
  ILeaseTimeToLiveResponse,
  IPutResponse,
  IRangeResponse,
  IResponseHeader,
  IResponseOp,
  IStatusResponse,
  ITxnResponse,
  IWatchResponse,
} from '../protocol/messages.ts';
import {
  decoder,
  getBool,
  getBytes,
  getChoice,
  getEach,
  getInt64,
  getMessage,
  getText,
  getUint64,
  type Decode,
} from './wire-read.ts';

// The numbers of fields and enumerations are those in etcd's rpc.proto and kv.proto. Fields that a member has
// left out get the same defaults as in npm etcd3.

const ZERO = '0';
const EMPTY = Buffer.alloc(0);

// The value of a nested message that a member has left out. It is `null`, as in npm etcd3, although the types
// of npm etcd3 do not declare that.
const ABSENT = null as never;

const header: Decode<IResponseHeader> = decoder<IResponseHeader>(
  { revision: ZERO, raft_term: ZERO },
  {
    revision: getInt64(3),
    raft_term: getUint64(4),
  },
);
const HEADER = { header: getMessage(1, () => header) };

const keyValue: Decode<IKeyValue> = decoder<IKeyValue>(
  { key: EMPTY, create_revision: ZERO, mod_revision: ZERO, version: ZERO, value: EMPTY, lease: ZERO },
  {
    key: getBytes(1),
    create_revision: getInt64(2),
    mod_revision: getInt64(3),
    version: getInt64(4),
    value: getBytes(5),
    lease: getInt64(6),
  },
);

const eachKeyValue = (field: number): ReturnType<typeof getEach<IKeyValue>> =>
  getEach(getMessage(field, () => keyValue));

export const rangeResponse: Decode<IRangeResponse> = decoder<IRangeResponse>(
  { header: ABSENT, kvs: [], more: false, count: ZERO },
  { ...HEADER, kvs: eachKeyValue(2), more: getBool(3), count: getInt64(4) },
);

export const putResponse: Decode<IPutResponse> = decoder<IPutResponse>(
  { header: ABSENT, prev_kv: ABSENT },
  {
    ...HEADER,
    prev_kv: getMessage(2, () => keyValue),
  },
);

export const deleteRangeResponse: Decode<IDeleteRangeResponse> = decoder<IDeleteRangeResponse>(
  { header: ABSENT, deleted: ZERO, prev_kvs: [] },
  { ...HEADER, deleted: getInt64(2), prev_kvs: eachKeyValue(3) },
);

// A response to one operation of a transaction has exactly one of these fields. As in npm etcd3, the others do not exist in the decoded object.
const responseOp: Decode<IResponseOp> = decoder<Partial<IResponseOp>>(
  {},
  {
    response_range: getMessage(1, () => rangeResponse),
    response_put: getMessage(2, () => putResponse),
    response_delete_range: getMessage(3, () => deleteRangeResponse),
    response_txn: getMessage(4, () => txnResponse),
  },
) as Decode<IResponseOp>;

export const txnResponse: Decode<ITxnResponse> = decoder<ITxnResponse>(
  { header: ABSENT, succeeded: false, responses: [] },
  {
    ...HEADER,
    succeeded: getBool(2),
    responses: getEach(getMessage(3, () => responseOp)),
  },
);

export const leaseGrantResponse: Decode<ILeaseGrantResponse> = decoder<ILeaseGrantResponse>(
  { header: ABSENT, ID: ZERO, TTL: ZERO, error: '' },
  { ...HEADER, ID: getInt64(2), TTL: getInt64(3), error: getText(4) },
);

/** Decodes a response of which the backend uses no field. */
export const anything: Decode<object> = decoder<object>({}, {});

export const leaseTimeToLiveResponse: Decode<ILeaseTimeToLiveResponse> = decoder<ILeaseTimeToLiveResponse>(
  { header: ABSENT, ID: ZERO, TTL: ZERO, grantedTTL: ZERO, keys: [] },
  {
    ...HEADER,
    ID: getInt64(2),
    TTL: getInt64(3),
    grantedTTL: getInt64(4),
    keys: getEach(getBytes(5)),
  },
);

export const leaseKeepAliveResponse: Decode<ILeaseKeepAliveResponse> = decoder<ILeaseKeepAliveResponse>(
  { header: ABSENT, ID: ZERO, TTL: ZERO },
  { ...HEADER, ID: getInt64(2), TTL: getInt64(3) },
);

const event: Decode<IEvent> = decoder<IEvent>(
  { type: 'Put', kv: ABSENT, prev_kv: ABSENT },
  {
    type: getChoice(1, ['Put', 'Delete']),
    kv: getMessage(2, () => keyValue),
    prev_kv: getMessage(3, () => keyValue),
  },
);

export const watchResponse: Decode<IWatchResponse> = decoder<IWatchResponse>(
  {
    header: ABSENT,
    watch_id: ZERO,
    created: false,
    canceled: false,
    compact_revision: ZERO,
    cancel_reason: '',
    fragment: false,
    events: [],
  },
  {
    ...HEADER,
    watch_id: getInt64(2),
    created: getBool(3),
    canceled: getBool(4),
    compact_revision: getInt64(5),
    cancel_reason: getText(6),
    fragment: getBool(7),
    events: getEach(getMessage(11, () => event)),
  },
);

const statusHeader: Decode<IStatusResponse['header']> = decoder<IStatusResponse['header']>(
  { member_id: ZERO, revision: ZERO, raft_term: ZERO },
  { member_id: getUint64(2), revision: getInt64(3), raft_term: getUint64(4) },
);

export const statusResponse: Decode<IStatusResponse> = decoder<IStatusResponse>(
  {
    header: ABSENT,
    version: '',
    dbSize: ZERO,
    leader: ZERO,
    raftIndex: ZERO,
    raftTerm: ZERO,
    raftAppliedIndex: ZERO,
    errors: [],
    dbSizeInUse: ZERO,
    isLearner: false,
  },
  {
    header: getMessage(1, () => statusHeader),
    version: getText(2),
    dbSize: getInt64(3),
    leader: getUint64(4),
    raftIndex: getUint64(5),
    raftTerm: getUint64(6),
    raftAppliedIndex: getUint64(7),
    errors: getEach(getText(8)),
    dbSizeInUse: getInt64(9),
    isLearner: getBool(10),
  },
);

/** The response to a log-in, with the authentication token. */
export const authenticateResponse: Decode<{ token: string }> = decoder<{ token: string }>(
  { token: '' },
  {
    token: getText(2),
  },
);
