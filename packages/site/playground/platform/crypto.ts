export const randomUUID = (): string => crypto.randomUUID();

export function randomBytes(size: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(size)));
}

/** Compares bytes of one length. Secret and caller are in the same page, so the duration reveals nothing. */
export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, at) => byte === other[at]);
}

/** Replaces the class of Node. A page reads no certificates, since its store has no TLS. */
export function X509Certificate(): never {
  throw new Error('there are no certificates in a page');
}
