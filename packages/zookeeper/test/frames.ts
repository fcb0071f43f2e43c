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

// What is asked for is the same, only the answer tells more.
const CREATE2 = 15;

/** The types of the requests in a chunk that starts with a request: length, number and type, four bytes each. */
export function requestsIn(chunk: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at + 12 <= chunk.length; at += 4 + chunk.readInt32BE(at))
    found.push(chunk.readInt32BE(at + 8));
  return found.map((code) => (code === CREATE2 ? OpCode.create : code));
}

// What the server sends unasked has this number in place of a request's.
const NOTICE = -1;

/** How many notices of watches are in a chunk that starts with an answer: length and number of the request, four bytes each. */
export function noticesIn(chunk: Buffer): number {
  let found = 0;
  for (let at = 0; at + 8 <= chunk.length; at += 4 + chunk.readInt32BE(at))
    if (chunk.readInt32BE(at + 4) === NOTICE) found += 1;
  return found;
}

/** How many of these requests put something in. */
export function creates(chunk: Buffer): number {
  return requestsIn(chunk).filter((code) => code === OpCode.create).length;
}
