/** The content of a node. */
export interface Znode {
  readonly data: Uint8Array;
  /** The version of the data. It grows with each write. */
  readonly version: number;
}

/** The operations that a fenced znode needs of a ZooKeeper client. {@link npmZookeeper} adapts the npm package `zookeeper` to it. */
export interface ZnodeClient {
  /** Reads a node; resolves with `undefined` when it does not exist. The read may be served by a member that lags behind. */
  get(path: string): Promise<Znode | undefined>;
  /**
   * Writes the data if the node still has this version. Resolves with true if it was written, and with false if the node had another version. Rejects
   * in every other case. After `set` has resolved with false, `get` must return the data of the write that changed the version, or later data. A
   * session of ZooKeeper guarantees that.
   */
  set(path: string, data: Uint8Array, version: number): Promise<boolean>;
}
