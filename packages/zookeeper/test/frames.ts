/** Request types of ZooKeeper's protocol (`ZooDefs.OpCode`). */
export const OpCode = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getChildren: 8,
  sync: 9,
  ping: 11,
} as const;

/** The types of the requests in a chunk that starts with a request: length, number and type, four bytes each. */
export function requestsIn(chunk: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at + 12 <= chunk.length; at += 4 + chunk.readInt32BE(at))
    found.push(chunk.readInt32BE(at + 8));
  return found;
}
