// Folder "driver": declares the requests to a member, and classifies their failures.
// driver.ts (this file) declares the interface of all transports. errors.ts and grpc-status.ts interpret failures.
// member-circuit-breaker.ts delays attempts to connect after failures.

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

/** The timeout of one request to a member. */
export interface CallOptions {
  /** Timeout of the response, in milliseconds. While the event loop is blocked, at most a quarter of it passes. */
  readonly withinMs: number;
}

/** Receives the responses of a channel. None of its methods is called after `onEnd`, nor after the channel was closed. */
export interface ChannelListener<Response> {
  readonly onResponse: (response: Response) => void;
  /** Called once, when the channel has ended for any reason other than `close` or `abandon`. */
  readonly onEnd: (error: unknown) => void;
}

/**
 * A stream of requests and responses between this client and a member. Requests are sent in the order of the writes, which may begin while the stream
 * opens.
 */
export interface Channel<Request> {
  write(request: Request): void;
  /** Ends the channel without calling the listener of its responses. */
  close(): void;
  /** Ends the channel after a failure, without calling its listener. The next channel then gets a new connection. */
  abandon(): void;
}

/**
 * One member of an etcd cluster, reached over one transport. It has the part of etcd's API (version 3.4) that this package needs, with
 * the messages of etcd's protocol. Numbers of 64 bits are decimal text. Each request is sent once, or again if the member has refused it without processing
 * it. Only a member that knows a leader accepts it. Calls reject with errors that `classify` understands.
 */
export interface Driver {
  range(request: IRangeRequest, options: CallOptions): Promise<IRangeResponse>;
  put(request: IPutRequest, options: CallOptions): Promise<IPutResponse>;
  deleteRange(request: IDeleteRangeRequest, options: CallOptions): Promise<IDeleteRangeResponse>;
  txn(request: ITxnRequest, options: CallOptions): Promise<ITxnResponse>;
  leaseGrant(request: ILeaseGrantRequest, options: CallOptions): Promise<ILeaseGrantResponse>;
  leaseRevoke(request: ILeaseRevokeRequest, options: CallOptions): Promise<unknown>;
  leaseTimeToLive(request: ILeaseTimeToLiveRequest, options: CallOptions): Promise<ILeaseTimeToLiveResponse>;
  status(options: CallOptions): Promise<IStatusResponse>;
  watch(listener: ChannelListener<IWatchResponse>): Channel<IWatchRequest>;
  keepAlive(listener: ChannelListener<ILeaseKeepAliveResponse>): Channel<ILeaseKeepAliveRequest>;
  /** Ends all calls and channels to this member. */
  close(): void;
}
