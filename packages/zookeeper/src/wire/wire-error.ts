/** The server sent something other than ZooKeeper's protocol, or nothing in time. The connection is unusable. */
export class WireError extends Error {
  override readonly name = 'WireError';
}
