export const randomUUID = (): string => crypto.randomUUID();

export function randomBytes(size: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(size)));
}

/** Compares bytes of one length. The secret is in the same page as who guesses it, so time tells nothing new. */
export function timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, at) => byte === other[at]);
}
