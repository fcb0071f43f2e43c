// Folder "driver": declares the requests to a server, sends them with timeouts, and interprets errors.
// driver.ts (this file) declares the interface of both clients. errors.ts converts result codes. calls.ts sends requests with a timeout.
// quorum.ts writes through a quorum.

import type { Observable } from '../base/rx.ts';

/** A change that a watch reports: of the node itself, or (`child`) of its list of children. */
export type NodeChange = 'created' | 'deleted' | 'changed' | 'child';

/** The kind of a new node. The server removes a `container` some time after its last child was removed. */
export type NodeMode = 'persistent' | 'ephemeral' | 'ephemeral-sequential' | 'container';

/** The metadata of a node. */
export interface NodeStat {
  /**
   * The id of the transaction that created the node. A node that is created later has a larger id, also after a change of the leader or a
   * removal of the parent node.
   */
  readonly czxid: bigint;
  /** The number of times that the content of the node was replaced. */
  readonly version: number;
  /**
   * The number of times that a child was created or deleted, modulo 2^32. This is twice the number of created children minus the number of present
   * ones.
   */
  readonly childChanges: number;
  readonly childCount: number;
  /** The id of the last transaction that created or deleted a child. */
  readonly childrenZxid: bigint;
  /** The id of the session that owns the ephemeral node, in lower-case hexadecimal; `0` for none. */
  readonly ephemeralOwner: string;
}

/** A node with its content. */
export interface NodeData extends NodeStat {
  readonly text: string;
}

/** The children of a node, and the metadata of the node from the same reply. */
export interface Listing {
  readonly children: readonly string[];
  readonly stat: NodeStat;
}

/** The path of a new node and, if the driver reports it, `NodeStat.czxid`; or the reason why it was not created. */
export type Created =
  | { readonly path: string; readonly czxid?: bigint }
  | { readonly path: undefined; readonly reason: 'no-parent' | 'exists' };

/**
 * One step of a transaction, which executes all steps or none. A `check` requires that the node exists and
 * has the given version.
 */
export type Step =
  | { readonly type: 'create'; readonly path: string; readonly text: string; readonly mode: NodeMode }
  | ({ readonly type: 'delete' | 'check'; readonly path: string } & VersionOption)
  | ({ readonly type: 'write'; readonly path: string; readonly text: string } & VersionOption);

/**
 * The result of a transaction. If it was done, `paths` are the created nodes in the order of their steps. `zxid` is the id of the
 * transaction, present if one of the steps is a `write`. If it was not done, `at` is the first step that failed. `missing` means that the
 * node, or the parent of a new node, does not exist. `version` means that the node has another version.
 */
export type TransactionResult =
  | { readonly done: true; readonly paths: readonly string[]; readonly zxid?: bigint }
  | { readonly done: false; readonly at: number; readonly reason: 'missing' | 'exists' | 'version' };

/** The secret that is needed to resume a session. */
export interface SessionKey {
  /** The session id in lower-case hexadecimal. */
  readonly client_id: string;
  /** The password in upper-case hexadecimal. */
  readonly client_password: string;
}

/** Whether a read also sets a watch, so that the server notifies the session once of the next change. */
export interface WatchOption {
  readonly watch?: boolean;
}

/** The version that a node must have for a change of it. */
export interface VersionOption {
  /** The required `NodeStat.version`. A node with another version is treated as missing. Default: any version. */
  readonly version?: number;
}

/**
 * An event of a session's connection: it is down, or it is up again. The session outlives the connection for
 * a while, but watches do not. When the connection is up again, the caller must set its watches again.
 */
export type ConnectionEvent = { readonly status: 'lost'; readonly at: number } | { readonly status: 'back' };

/**
 * One connection to ZooKeeper with one server session. It has the operations of a client that this package needs.
 *
 * Requests are executed in the order of the calls, so a list requested right after a create shows the new node. Missing and existing nodes
 * are reported as values. Every other failure rejects with a `QueueLockError`: `SESSION_LOST` when the session has ended, `ACCESS_DENIED`,
 * `INVALID_ARGUMENT`, or `UNAVAILABLE`, after which the outcome is unknown. Each call settles within a limit of time, even when the server
 * is silent.
 */
export interface ZkDriver {
  /** The session id in lower-case hexadecimal, as in `NodeStat.ephemeralOwner`. */
  readonly sessionId: string;
  /** The key with which another client can resume the session. */
  readonly sessionKey: SessionKey;
  /** The session timeout that the server granted, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * The start time of the connection attempt, by the caller's clock. The server has not created or resumed
   * the session before that.
   */
  readonly startedAt: number;
  readonly connection$: Observable<ConnectionEvent>;
  /**
   * Errors with `SESSION_LOST` when the session has ended. Completes when `abandon` was called. A subscriber
   * that comes later gets the error or the completion at once.
   */
  readonly ended$: Observable<never>;

  /** Creates a node. Resolves with its path, to which the server has appended a number if the mode is sequential. */
  create(path: string, text: string, mode: NodeMode): Promise<Created>;
  /**
   * Executes all steps in one transaction, or none of them. Each step sees the effects of the previous ones.
   * `undefined` if the client library has no transactions.
   */
  multi?(steps: readonly Step[]): Promise<TransactionResult>;
  /** Deletes a node. Resolves with `false` if it did not exist. */
  delete(path: string, option?: VersionOption): Promise<boolean>;
  /**
   * Replaces the content of a node. Resolves with `undefined` if it does not exist. An `urgent` write overtakes all calls that have not
   * been sent.
   */
  write(
    path: string,
    text: string,
    option?: VersionOption & { readonly urgent?: boolean },
  ): Promise<NodeStat | undefined>;
  /**
   * Reads a node. With `watch`, sets a watch if the node exists. On a missing node the watch would remain for ever, since paths are not
   * reused.
   */
  read(path: string, option?: WatchOption): Promise<NodeData | undefined>;
  /** Reads the metadata of a node. With `watch`, sets a watch even if the node does not exist yet. */
  stat(path: string, option?: WatchOption): Promise<NodeStat | undefined>;
  children(path: string, option?: WatchOption): Promise<readonly string[] | undefined>;
  list(path: string): Promise<Listing | undefined>;
  /**
   * Lists the paths of the session's ephemeral nodes that begin with `prefix`, in the state of the connected
   * server. Resolves with `undefined` if the server is older than 3.6. A driver whose client library cannot
   * send this request lacks the method.
   */
  ephemerals?(prefix: string): Promise<readonly string[] | undefined>;
  /** Brings the connected server up to date with the leader. Later reads see every change that was committed before. */
  sync(): Promise<void>;

  /** Emits changes of the node at `path`, as far as watches were set on it. */
  changes(path: string): Observable<NodeChange>;
  /**
   * Emits changes of the direct children of the node at `path`, with their names, as far as watches were set
   * on them.
   */
  changesBelow(path: string): Observable<{ readonly name: string; readonly change: NodeChange }>;

  /** Ends the session, which removes its ephemeral nodes. Never rejects. If the server is silent, the session timeout ends the session. */
  close(): Promise<void>;
  /**
   * Disconnects without ending the session. It ends at its timeout unless another client resumes it. Later calls reject with `CLOSED`.
   * Never rejects.
   */
  abandon(): Promise<void>;
}
