/**
 * Defines the globals of Node that browsers lack and that the core, the memory store and the bridge use. It
 * must be imported before them.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The part of Node's `Buffer` that converts text to bytes and back. */
class Bytes extends Uint8Array {
  static override from(source: unknown): Bytes {
    const bytes = typeof source === 'string' ? encoder.encode(source) : (source as ArrayLike<number>);
    const copy = new Bytes(bytes.length);
    copy.set(bytes);
    return copy;
  }

  static byteLength(text: string): number {
    return encoder.encode(text).length;
  }

  static concat(parts: readonly Uint8Array[]): Bytes {
    const whole = new Bytes(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  override toString(encoding?: string): string {
    if (encoding === 'hex') return [...this].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    if (encoding === 'base64url')
      return btoa(String.fromCharCode(...this))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replaceAll('=', '');
    return decoder.decode(this);
  }
}

Object.assign(globalThis, { Buffer: Bytes, process: { pid: 1, env: {}, platform: 'browser' } });
