import type { TcpProxy } from '@queuelock/harness/faults';

// Frames of HTTP/2: with headers an answer begins; a server sends others before it.
const FRAME = { head: 9, sizeBytes: 3, kindAt: 3 };
const HEADERS = 1;

function beginsAnswer(data: Buffer): boolean {
  const { head, sizeBytes, kindAt } = FRAME;
  for (let at = 0; at + head <= data.length; at += head + data.readUIntBE(at, sizeBytes))
    if (data[at + kindAt] === HEADERS) return true;
  return false;
}

/**
 * The server carries the next request out that such a chunk is of, and the connection breaks instead of its reply: whoever sent it knows
 * at once that the outcome is unknown. Resolves when that has happened.
 */
export async function loseReply(proxy: TcpProxy, chunk: (chunk: Buffer) => boolean): Promise<void> {
  const { seen, lost } = proxy.loseNextReply(chunk);
  const connection = await seen;
  proxy.onServerData = (data, from) => {
    if (from === connection && beginsAnswer(data)) from.cut();
  };
  await lost;
}
