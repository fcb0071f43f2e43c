/**
 * Thrown when the server has sent something that is not ZooKeeper's protocol, or nothing in time. The
 * connection cannot be used any more.
 */
export class WireError extends Error {
  override readonly name = 'WireError';
}
