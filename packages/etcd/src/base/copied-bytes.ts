/**
 * Returns a copy of a part of the bytes, in its own memory. `Buffer.from` and `Buffer.allocUnsafe` need ten function calls for this. They also use
 * a part of a shared block, which stays in memory as long as that part.
 */
export function copyOf(bytes: Buffer, begin: number, end: number): Buffer {
  return Uint8Array.prototype.slice.call(bytes, begin, end) as Buffer;
}
