import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { ClientId } from './quota.ts';

/**
 * Facts about the connection on which a request arrived: the remote address, and the request as Node's HTTP
 * server received it.
 */
export interface ConnectionFacts {
  /** Address of the peer of the connection. If there is a proxy, it is the proxy's address. */
  readonly remoteAddress?: string | undefined;
  /** The request of Node's HTTP server that `nodeListener` received. Undefined in other hosts. */
  readonly incoming?: IncomingMessage | undefined;
}

/**
 * Facts about the client of a request: those about its connection, and the name that `authorize` returned.
 */
export interface ClientFacts extends ConnectionFacts {
  /**
   * Name that `authorize` returned; `undefined` before `authorize` is called, and when it returned `true`.
   */
  readonly principal?: string | undefined;
}

const MAX_LENGTH = 256;
const IPV6_NETWORK_GROUPS = 4;

/**
 * The default of the option `clientOf`. Returns the remote address and the name that `authorize` returned
 * (the principal), or `undefined` when neither is known.
 */
export function addressAndPrincipal({ remoteAddress, principal }: ClientFacts): ClientId {
  const address = remoteAddress === undefined ? undefined : networkOf(remoteAddress);
  if (address === undefined && principal === undefined) return undefined;
  return boundedId(JSON.stringify([address ?? '', principal ?? '']));
}

/**
 * Shortens the id of a client to the largest allowed length. An application may take the id from text that
 * the client sent.
 */
export function boundedId(id: ClientId): ClientId {
  return id?.slice(0, MAX_LENGTH);
}

/** Returns the IPv4 address, or the first 64 bits of an IPv6 address: one machine may use all addresses of such a network. */
export function networkOf(address: string): string {
  const ipv4 = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(ipv4) || !isIPv6(address)) return ipv4;
  const [before = '', after] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const [front, back] = [before, after ?? ''].map((text) => text.split(':').filter((group) => group !== ''));
  const missing = after === undefined ? 0 : 8 - (front?.length ?? 0) - (back?.length ?? 0);
  const groups = [...(front ?? []), ...Array<string>(Math.max(0, missing)).fill('0'), ...(back ?? [])];
  return `${groups
    .slice(0, IPV6_NETWORK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
