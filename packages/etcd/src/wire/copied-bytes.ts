/**
 * Returns a copy of a part of the bytes, in memory of its own. `Buffer.from` and `Buffer.allocUnsafe` do the same in ten function calls, and take a
 * part of a shared block, which stays in memory as long as the part.
 */
export function copyOf(bytes: Buffer, begin: number, end: number): Buffer {
  return Uint8Array.prototype.slice.call(bytes, begin, end) as Buffer;
}
