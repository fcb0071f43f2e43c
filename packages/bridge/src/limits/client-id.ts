import { isIPv4, isIPv6 } from 'node:net';
import type { ClientId } from './quota.ts';

/** What is known of the connection that a request came over. */
export interface ConnectionFacts {
  /** The address of the other end, which is that of a proxy where there is one. */
  readonly remoteAddress?: string | undefined;
}

/** What is known of the client of a request. */
export interface ClientFacts extends ConnectionFacts {
  /** The name that `authorize` returned; `undefined` before it was called, and where it returned `true`. */
  readonly principal?: string | undefined;
}

const MAX_LENGTH = 256;
const IPV6_NETWORK_GROUPS = 4;

/** The default of `clientOf`: the remote address and the principal; `undefined` when neither is known. */
export function addressAndPrincipal({ remoteAddress, principal }: ClientFacts): ClientId {
  const address = remoteAddress === undefined ? undefined : networkOf(remoteAddress);
  if (address === undefined && principal === undefined) return undefined;
  return boundedId(JSON.stringify([address ?? '', principal ?? '']));
}

/** A host may take an id from text of the client. */
export function boundedId(id: ClientId): ClientId {
  return id?.slice(0, MAX_LENGTH);
}

/** One machine has all addresses of an IPv6 network of 64 bits, and one IPv4 address. */
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
