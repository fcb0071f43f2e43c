/** Returns whether a text takes at most `bytes` bytes of UTF-8. A UTF-16 code unit takes at most three bytes, so most texts need not be encoded. */
export function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;
}
