import type { TcpProxy } from '@queuelock/harness/faults';

/** Returns a predicate for chunks of bytes: whether a chunk contains the id of an entry. Every request for an entry contains its id. */
export const mentions =
  (id: string) =>
  (chunk: Buffer): boolean =>
    chunk.includes(id);

/**
 * Returns a predicate for chunks of bytes: whether a chunk contains the id of an entry, and is not the first such chunk. The first one creates the
 * entry.
 */
export function mentionsAgain(id: string): (chunk: Buffer) => boolean {
  let seen = 0;
  return (chunk) => chunk.includes(id) && (seen += 1) > 1;
}

/** A request that a proxy holds back until the test lets it arrive. */
export interface LateRequest {
  /** Returns whether the request has reached a proxy, which then holds it back. */
  readonly isInFlight: () => boolean;
  /** Forwards the request to the server. From then on the proxy delays all requests by the time for which it has held back this request. */
  readonly arrive: () => void;
}

const FOR_EVER_MS = 2 ** 31 - 1;
const HEAD_START_MS = 100;

/**
 * Holds back one request at the proxy where it arrives: from the first chunk for which the function `chunk` returns true, all bytes wait. Earlier
 * bytes are delayed by 100 ms, so that the request's headers, which may be in the chunk before, are held back as well. etcd would drop a request that
 * consists of headers only.
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
  return { isInFlight: () => arrive !== undefined, arrive: () => arrive?.() };
}
