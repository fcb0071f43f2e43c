import type { TcpProxy } from '@queuelock/harness/faults';

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

/** A request that is on its way to the server for as long as the test wants. */
export interface LateRequest {
  /** Whether it has come to a proxy. */
  readonly isOnItsWay: () => boolean;
  /** It goes on now, and what was sent after it follows at the distance that it had. */
  readonly arrive: () => void;
}

const FOR_EVER_MS = 2 ** 31 - 1;
const HEAD_START_MS = 100;

/**
 * The request that such a chunk is of is kept back on the proxy where it comes, with all that follows it there. Until it comes everything
 * goes a little later: its headers may be a chunk before, and a server that has those alone drops the request after its time.
 */
export function keepBack(proxies: readonly TcpProxy[], chunk: (chunk: Buffer) => boolean): LateRequest {
  let arrive: (() => void) | undefined;
  for (const proxy of proxies) {
    proxy.toServer.delay(HEAD_START_MS);
    proxy.onClientData = (data) => {
      if (arrive || !chunk(data)) return;
      const cameAt = performance.now();
      arrive = () => proxy.toServer.delay(performance.now() - cameAt);
      for (const { toServer } of proxies) toServer.delay(toServer === proxy.toServer ? FOR_EVER_MS : 0);
    };
  }
  return { isOnItsWay: () => arrive !== undefined, arrive: () => arrive?.() };
}
