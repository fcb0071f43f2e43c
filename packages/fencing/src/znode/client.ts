/** A node as it was read. */
export interface Znode {
  readonly data: Uint8Array;
  /** Of the data; grows with each write of it. */
  readonly version: number;
}

/** What a fenced znode needs of a ZooKeeper client. {@link npmZookeeper} makes one of the npm package `zookeeper`. */
export interface ZnodeClient {
  /** Reads a node; `undefined` when there is none. A member that lags behind may answer. */
  get(path: string): Promise<Znode | undefined>;
  /**
   * Writes if the version is still this one: true if it was, false if it was another one. Any other end rejects.
   * After false, `get` has to read what that write lost to (a session of ZooKeeper does).
   */
  set(path: string, data: Uint8Array, version: number): Promise<boolean>;
}
