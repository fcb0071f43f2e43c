/** Whether a text takes at most so many bytes of UTF-8. A unit of UTF-16 takes at most three, so most texts need not be counted. */
export function fits(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;
}
