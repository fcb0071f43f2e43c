/** Encodes a user's text for the file. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

/** Decodes a text from the file. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
