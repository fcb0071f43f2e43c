import type { TcpProxy } from '../../../integration/faults.ts';

/** Whether the bytes on their way to the server are a transaction that mentions the id. */
export const mentions =
  (id: string) =>
  (chunk: Buffer): boolean =>
    chunk.includes(id);

/** The same from the second such chunk on: the request that follows the one that made the entry. */
export function mentionsAgain(id: string): (chunk: Buffer) => boolean {
  let seen = 0;
  return (chunk) => chunk.includes(id) && (seen += 1) > 1;
}

/** From the chunk on everything to the server takes that long on the proxy where it comes. Answers whether it came. */
export function delayFirst(
  proxies: readonly TcpProxy[],
  { chunk, ms }: { chunk: (chunk: Buffer) => boolean; ms: number },
): () => boolean {
  let delayed = false;
  for (const proxy of proxies) {
    proxy.onClientData = (data) => {
      if (delayed || !chunk(data)) return;
      delayed = true;
      proxy.toServer.delay(ms);
    };
  }
  return () => delayed;
}
