/** What came is not ZooKeeper's protocol, or nothing came in time: this connection cannot be used any further. */
export class WireError extends Error {
  override readonly name = 'WireError';
}
