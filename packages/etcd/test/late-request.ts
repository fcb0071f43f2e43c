import type { TcpProxy } from '@queuelock/harness/faults';

/** Returns a predicate that matches chunks of bytes with this id. Requests for an entry contain the id of the entry. */
export const mentions =
  (id: string) =>
  (chunk: Buffer): boolean =>
    chunk.includes(id);

/** Returns a predicate that matches all chunks with this id except the first one, which is the create of the entry. */
export function mentionsAgain(id: string): (chunk: Buffer) => boolean {
  let seen = 0;
  return (chunk) => chunk.includes(id) && (seen += 1) > 1;
}

/** A request that stays in flight for as long as the test wants. */
export interface LateRequest {
  /** Whether the request has reached a proxy. */
  readonly isInFlight: () => boolean;
  /** Forwards the request, and later ones after it with their original delay. */
  readonly arrive: () => void;
}

const FOR_EVER_MS = 2 ** 31 - 1;
const HEAD_START_MS = 100;

/**
 * Holds back the request whose chunk matches, and all later bytes, at the proxy where it arrives. Before that, all bytes are delayed a little. The
 * headers may be in the previous chunk, and a server that gets only the headers drops the request at its timeout.
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
