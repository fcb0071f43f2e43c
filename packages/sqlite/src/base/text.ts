/** Encodes a text as UTF-8 bytes for the lock file. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

/** Decodes a text that was read from the lock file. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
