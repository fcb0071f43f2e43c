/** A user's text as it is stored. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

/** And back. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
