export const randomUUID = (): string => crypto.randomUUID();

export function randomBytes(size: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(size)));
}

/**
 * Compares two byte arrays of equal length. The comparison need not take constant time: the secret and the
 * caller are in the same page.
 */
export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, at) => byte === other[at]);
}

/**
 * Replaces Node's `X509Certificate` by a function that always throws: a page reads no certificates, since its
 * store has no TLS.
 */
export function X509Certificate(): never {
  throw new Error('there are no certificates in a page');
}
