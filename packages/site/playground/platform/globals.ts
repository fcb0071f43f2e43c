/** What Node has globally and browsers lack, as far as the core, the memory store and the bridge use it. Imported first. */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes that are text: a part of Node's `Buffer`. */
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
