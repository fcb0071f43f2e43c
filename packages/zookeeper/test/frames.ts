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
  list: 12,
  multi: 14,
  createContainer: 19,
  closeSession: -11,
} as const;

// The newer version of create. Its reply also contains the metadata of the node.
const CREATE2 = 15;

/** Returns the types of the requests in a chunk that begins with a whole request. Length, number and type take four bytes each. */
export function requestsIn(chunk: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at + 12 <= chunk.length; at += 4 + chunk.readInt32BE(at))
    found.push(chunk.readInt32BE(at + 8));
  return found.map((code) => (code === CREATE2 ? OpCode.create : code));
}

// A message of the server with this request number is a watch notification, not a reply.
const NOTICE = -1;

/** Returns the number of watch notifications in a chunk that begins with a whole message of the server. */
export function noticesIn(chunk: Buffer): number {
  let found = 0;
  for (let at = 0; at + 8 <= chunk.length; at += 4 + chunk.readInt32BE(at))
    if (chunk.readInt32BE(at + 4) === NOTICE) found += 1;
  return found;
}

/** Returns how many of the requests in a chunk create a node. */
export function creates(chunk: Buffer): number {
  return requestsIn(chunk).filter((code) => code === OpCode.create).length;
}
