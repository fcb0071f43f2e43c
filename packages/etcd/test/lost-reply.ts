import type { TcpProxy } from '@queuelock/harness/faults';

// The layout of an HTTP/2 frame. A reply to a call begins with a frame of headers. The server may send other
// frames before it.
const FRAME = { head: 9, sizeBytes: 3, kindAt: 3 };
const HEADERS = 1;

function startsReply(data: Buffer): boolean {
  const { head, sizeBytes, kindAt } = FRAME;
  for (let at = 0; at + head <= data.length; at += head + data.readUIntBE(at, sizeBytes))
    if (data[at + kindAt] === HEADERS) return true;
  return false;
}

/**
 * Loses the reply to the next request that has a chunk for which the function `chunk` returns true. The server executes the request, and the
 * connection is cut before the reply passes the proxy. The client's call then rejects at once with an unknown outcome. Resolves when the connection
 * is cut.
 */
export async function loseReply(proxy: TcpProxy, chunk: (chunk: Buffer) => boolean): Promise<void> {
  const { seen, lost } = proxy.loseNextReply(chunk);
  const connection = await seen;
  proxy.onServerData = (data, from) => {
    if (from === connection && startsReply(data)) from.cut();
  };
  await lost;
}
