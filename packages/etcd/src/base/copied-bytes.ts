/**
 * Returns a copy of a part of the bytes, in its own memory. `Buffer.from` and `Buffer.allocUnsafe` need ten function calls for this. They also take
 * the copy from a block that several buffers share, and the whole block stays in memory as long as the copy.
 */
export function copyOf(bytes: Buffer, begin: number, end: number): Buffer {
  return Uint8Array.prototype.slice.call(bytes, begin, end) as Buffer;
}
