import type { IsRequest, Wire } from './wire-protocol.ts';

/** Numbers of request types (`ZooDefs.OpCode`). */
const OP = { create: 1, create2: 15, delete: 2, setData: 5, closeSession: -11 } as const;
const PRIVATE = '/.queuelock';

/**
 * Recognises queuelock's requests to ZooKeeper (zookeeper.jute). It searches the data for parts of a request,
 * since the C client sends the length of a request separately.
 */
export const zooKeeperWire: Wire = {
  // Matches the opening of a new session, which has the id 0 and an empty password. A client that resumes a
  // session sends its id.
  opens: including(Buffer.concat([Buffer.alloc(8), int(16), Buffer.alloc(16)])),
  closes: including(int(OP.closeSession)),
  enters: (queue) => (chunk) => isCreateBelow(`/${queue}/`, chunk),
  leaves: (key) => including(Buffer.concat([int(OP.delete), text(key)])),
  heartbeats: (session) => including(Buffer.concat([int(OP.setData), text(`${PRIVATE}/${session}`)])),
};

function including(bytes: Buffer): IsRequest {
  return (chunk) => chunk.includes(bytes);
}

/**
 * Returns whether the data contains a request to create a node below the directory. In such a request, the
 * path follows the type of the request and the length of the path.
 */
function isCreateBelow(directory: string, chunk: Buffer): boolean {
  const at = chunk.indexOf(directory);
  if (at < 8) return false;
  const type = chunk.readInt32BE(at - 8);
  return type === OP.create || type === OP.create2;
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int(bytes.length), bytes]);
}
