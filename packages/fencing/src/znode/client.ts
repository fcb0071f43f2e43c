/** The content of a node of ZooKeeper. */
export interface Znode {
  readonly data: Uint8Array;
  /** The version of the node's data. It grows with each write. */
  readonly version: number;
}

/** The operations that a fenced znode needs of a ZooKeeper client. {@link npmZookeeper} adapts the npm package `zookeeper` to it. */
export interface ZnodeClient {
  /**
   * Reads a node of ZooKeeper. Resolves with `undefined` when it does not exist. The read may be served by a
   * member that lags behind.
   */
  get(path: string): Promise<Znode | undefined>;
  /**
   * Writes the data of a node if the node still has the given version. Resolves with true if the data was
   * written, and with false if the node had another version. Rejects in every other case. After `set` has
   * resolved with false, `get` must return the data of the write that changed the version, or later data. A
   * session of ZooKeeper guarantees that.
   */
  set(path: string, data: Uint8Array, version: number): Promise<boolean>;
}
