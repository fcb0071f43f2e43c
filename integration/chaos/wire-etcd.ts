import type { IsRequest, Wire } from './wire-protocol.ts';

/**
 * The Huffman code of HTTP/2 (RFC 7541, appendix B), as bits, for the characters in paths of etcd's requests.
 */
const CODES: ReadonlyMap<string, string> = new Map(
  [
    '.010111 /011000 G1100010 L1100111 R1101101 a00011 b100011 c00100 d100100',
    'e00101 k1110101 n101010 o00111 p101011 r101100 s01000 t01001 v1110111',
  ].flatMap((line) => line.split(' ').map((code) => [code.charAt(0), code.slice(1)] as const)),
);

const VARINT = 0;
const BYTES = 2;

/**
 * Recognises queuelock's requests to etcd in HTTP/2 data (RFC 9113), which contains gRPC messages in protocol
 * buffers (etcd's rpc.proto). It decodes only the parts that distinguish the requests.
 */
export const etcdWire: Wire = {
  opens: path('/etcdserverpb.Lease/LeaseGrant'),
  closes: path('/etcdserverpb.Lease/LeaseRevoke'),
  // Matches the first request that contains the name of the queue. That is the enqueue: a worker sends no
  // other request with the name before it.
  enters: (queue) => including(`${queue}/`),
  // Matches the request that removes an entry: etcd's `DeleteRangeRequest` with the key of the entry, alone
  // or as an operation in a transaction.
  leaves: (key) => {
    const deletion = field(1, Buffer.from(key));
    const [alone, among] = [including(message(deletion)), including(field(3, deletion))];
    return (chunk) => alone(chunk) || among(chunk);
  },
  // Matches a message with nothing but the id of the session's lease, which is a keepalive. The request that
  // ends the session (`LeaseRevokeRequest`) has the same bytes, but a worker sends it last.
  heartbeats: (session) =>
    including(message(Buffer.concat([tag(1, VARINT), varint(BigInt(`0x${session}`))]))),
};

function including(bytes: Buffer | string): IsRequest {
  return (chunk) => chunk.includes(bytes);
}

/**
 * Matches a request to etcd by its path. Node's HTTP/2 encodes the path with the Huffman code in every
 * request.
 */
function path(text: string): IsRequest {
  return including(huffman(text));
}

/** Returns a gRPC message: a flag for no compression, its length, and its bytes. */
function message(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(number, BYTES), varint(BigInt(bytes.length)), bytes]);
}

function tag(number: number, type: number): Buffer {
  return Buffer.from([(number << 3) | type]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    bytes.push(rest > 0x7fn ? low | 0x80 : low);
    if (rest <= 0x7fn) return Buffer.from(bytes);
  }
}

/** Encodes text with the Huffman code, and pads it to whole bytes with ones. */
function huffman(text: string): Buffer {
  const bits = Array.from(text, (letter) => CODES.get(letter)!).join('');
  const octets = bits.match(/.{1,8}/g)!.map((octet) => Number.parseInt(octet.padEnd(8, '1'), 2));
  return Buffer.from(octets);
}
