// Chapter driver: what is asked of etcd, and what may it answer?
// The interface of all transports (here); what their failures mean (errors, grpc-status); trouble on the way to members (member-circuit-breaker).

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

/** How one call is made. */
export interface CallOptions {
  /** After so long without an answer it is given up. A blocked event loop costs a quarter of it at most. */
  readonly withinMs: number;
}

/** Who listens to a channel; called with nothing after `onEnd`, nor after the channel was closed. */
export interface ChannelListener<Response> {
  readonly onResponse: (response: Response) => void;
  /** Once: it is over, for whatever reason. */
  readonly onEnd: (error: unknown) => void;
}

/** A stream of requests and answers. Writes go out in their order, also those made while it opens. */
export interface Channel<Request> {
  write(request: Request): void;
  /** Ends it without a word to the listener. */
  close(): void;
  /** The same for one that is given up because of a failure. */
  abandon(): void;
}

/**
 * One member of a cluster over one transport: as much of etcd's API (version 3.4) as this package needs, in the messages of its
 * protocol. 64-bit numbers are decimal text. Each request is sent once, asks for a member that knows a leader, and rejects with
 * whatever `classify` understands.
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
  /** Ends everything that is under way. */
  close(): void;
}
