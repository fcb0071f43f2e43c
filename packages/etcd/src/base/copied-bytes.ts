/**
 * Returns a copy of a part of a buffer, in memory of its own. `Buffer.from` and `Buffer.allocUnsafe` would need ten function calls for this. Their
 * copy would also be a part of a block that several buffers share. The whole block would stay in memory as long as the copy.
 */
export function copyOf(bytes: Buffer, begin: number, end: number): Buffer {
  return Uint8Array.prototype.slice.call(bytes, begin, end) as Buffer;
}
