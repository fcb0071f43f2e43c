/**
 * Returns a copy of a part of a buffer, in memory of its own. `Buffer.from` and `Buffer.allocUnsafe` would need ten function calls for this. They
 * would also take the copy from a block that several buffers share, and the whole block would stay in memory as long as the copy.
 */
export function copyOf(bytes: Buffer, begin: number, end: number): Buffer {
  return Uint8Array.prototype.slice.call(bytes, begin, end) as Buffer;
}
