// Chapter driver: what is asked of ZooKeeper, and what may it answer?
// The interface of both clients (here), what codes mean (errors), calls with their patience, reads through a quorum.

import type { Observable } from '../base/rx.ts';

/** What a watch tells about a node: about itself, or (`child`) that its list of children is another. */
export type NodeChange = 'created' | 'deleted' | 'changed' | 'child';

/** How a node is made; `container` is removed by the server some time after its last child is gone. */
export type NodeMode = 'persistent' | 'ephemeral' | 'ephemeral-sequential' | 'container';

/** What the server knows of a node. */
export interface NodeStat {
  /** The id of the transaction that made it: grows for ever, across leaders and removed parents. */
  readonly czxid: bigint;
  /** How often its content was replaced since. */
  readonly version: number;
  /** How often a child of it was made or deleted, modulo 2^32: twice the children made, less those that are there. */
  readonly childChanges: number;
  readonly childCount: number;
  /** The id of the transaction that made or deleted a child last. */
  readonly childrenZxid: bigint;
  /** The session that the node ends with, in lower-case hexadecimal; `0` for none. */
  readonly ephemeralOwner: string;
}

/** A node with its content. */
export interface NodeData extends NodeStat {
  readonly text: string;
}

/** A node's children, and what the server knows of the node at that moment. */
export interface Listing {
  readonly children: readonly string[];
  readonly stat: NodeStat;
}

/** A new node's path and, where the driver hears of it, `NodeStat.czxid`; or why there is none. */
export type Created =
  | { readonly path: string; readonly czxid?: bigint }
  | { readonly path: undefined; readonly reason: 'no-parent' | 'exists' };

/** One of several steps of which all are done at once, or none. `check` only compares: the node has to be there, in that version. */
export type Step =
  | { readonly type: 'create'; readonly path: string; readonly text: string; readonly mode: NodeMode }
  | ({ readonly type: 'delete' | 'check'; readonly path: string } & VersionOption)
  | ({ readonly type: 'write'; readonly path: string; readonly text: string } & VersionOption);

/**
 * What came of several steps. `paths` of the nodes that were made, in the order of their steps; `zxid` of the transaction that did all,
 * told if one of the steps is a `write`. Or the first step that kept all from being done, and why: `missing` is the node,
 * or the parent of one that was to be made; `version` that it has another one.
 */
export type StepsDone =
  | { readonly done: true; readonly paths: readonly string[]; readonly zxid?: bigint }
  | { readonly done: false; readonly at: number; readonly reason: 'missing' | 'exists' | 'version' };

/** What it takes to go on with a session. A secret. */
export interface SessionKey {
  /** In lower-case hexadecimal. */
  readonly client_id: string;
  /** In upper-case hexadecimal. */
  readonly client_password: string;
}

/** Whether a call also asks for one notice of the next change. */
export interface WatchOption {
  readonly watch?: boolean;
}

/** Which state of a node a change is for. */
export interface VersionOption {
  /** `NodeStat.version`: a node that has another one is left alone, as if it were not there. Default: any. */
  readonly version?: number;
}

/**
 * News of the connection underneath a session. The session goes on through both, for a while; watches do not: who has
 * one must ask again when the connection is back.
 */
export type ConnectionNews = { readonly status: 'lost'; readonly at: number } | { readonly status: 'back' };

/**
 * One connection to ZooKeeper with one server session: as much of a client as this package needs.
 *
 * Requests are carried out in the order of the calls, so a list asked for right after a create shows the new node.
 * Missing and existing nodes are values. Every other failure rejects with a `QueueLockError`: `SESSION_LOST` when the
 * session has ended, `ACCESS_DENIED`, `INVALID_ARGUMENT`, or `UNAVAILABLE`, after which the outcome is unknown.
 * Each call settles within `callTimeoutMs`, also when the server is silent.
 */
export interface ZkDriver {
  /** In lower-case hexadecimal, as `NodeStat.ephemeralOwner`. */
  readonly sessionId: string;
  /** For somebody else to connect with. */
  readonly sessionKey: SessionKey;
  /** The session timeout that the server granted. */
  readonly timeoutMs: number;
  /** When the connection was begun, on the clock of the connector: the server counts from no earlier time. */
  readonly begunAt: number;
  readonly connection$: Observable<ConnectionNews>;
  /** Errors with `SESSION_LOST` when the session has ended, completes when it was abandoned, also for those who come late. */
  readonly ended$: Observable<never>;

  /** Answers with the path, to which the server has appended a number if the mode is sequential. */
  create(path: string, text: string, mode: NodeMode): Promise<Created>;
  /** All of these at one point of the server's order, or none; each sees what those before it have done. Not every client can. */
  multi?(steps: readonly Step[]): Promise<StepsDone>;
  /** `false`: there was no such node. */
  delete(path: string, option?: VersionOption): Promise<boolean>;
  /** `undefined`: there is no such node. `urgent`: it overtakes all calls that are not on their way yet. */
  write(
    path: string,
    text: string,
    option?: VersionOption & { readonly urgent?: boolean },
  ): Promise<NodeStat | undefined>;
  /** The watch is set on a node that is there only, so none is left on a path that will never be again. */
  read(path: string, option?: WatchOption): Promise<NodeData | undefined>;
  /** The watch is set in any case, also on a node that is yet to come. */
  stat(path: string, option?: WatchOption): Promise<NodeStat | undefined>;
  children(path: string, option?: WatchOption): Promise<readonly string[] | undefined>;
  list(path: string): Promise<Listing | undefined>;
  /**
   * The paths of the session's ephemeral nodes that begin with `prefix`, as of what the connected server has read. `undefined`: the server
   * cannot tell, as before 3.6. Not every client can ask.
   */
  ephemerals?(prefix: string): Promise<readonly string[] | undefined>;
  /** Brings the connected server up to date with the leader; reads after it see everything that was done before it. */
  sync(): Promise<void>;

  /** Changes of this node, as far as watches on it were asked for. */
  changes(path: string): Observable<NodeChange>;
  /** Changes of the nodes directly below this one, by their name, likewise. */
  changesBelow(path: string): Observable<{ readonly name: string; readonly change: NodeChange }>;

  /** Ends the session; its ephemeral nodes go. Never rejects; when the server is silent the session timeout does it. */
  close(): Promise<void>;
  /** Disconnects, and leaves the session to its timeout or to somebody else. Calls after it reject with `CLOSED`. Never rejects. */
  abandon(): Promise<void>;
}
