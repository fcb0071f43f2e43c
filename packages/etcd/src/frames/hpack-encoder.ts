import { DEFAULT_TABLE_SIZE, STATIC_TABLE, sizeOfHeader, type Header } from './hpack-tables.ts';

/** The headers of a request by name. The encoder caches the bytes of each object, so the caller must not change an object. */
export type RequestHeaders = Readonly<Record<string, string>>;

const INDEXED = 0x80;
const INDEXING = 0x40;
const RESIZE = 0x20;
const NEVER_INDEXED = 0x10;
const NOT_INDEXED = 0;

// The authentication token of etcd is a secret. It must not enter the compression table of the connection, where an attacker could guess it (RFC
// 7541, section 7.1.3).
const SECRETS: ReadonlySet<string> = new Set(['token', 'authorization']);
// The header whose value differs between requests. It does not enter the compression table, so that the headers in the table keep their indexes.
const VARYING = ':path';

/**
 * Encodes the headers of requests (RFC 7541). Almost all requests repeat the headers of earlier ones, so the encoder caches encoded blocks. Headers
 * that are the same for all requests enter the peer's compression table with the first request. The table never drops a header, so indexes change
 * only when a header is added.
 */
export class HpackEncoder {
  #blocks = new WeakMap<RequestHeaders, Buffer>();
  /** The headers in the compression table of the peer, the oldest first, as `name: value`. */
  #entries: string[] = [];
  #size = 0;
  #capacity = DEFAULT_TABLE_SIZE;
  #mustResize = false;

  /** Returns the block of headers of one request. The caller must send it before any later block. */
  encode(headers: RequestHeaders): Buffer {
    return this.#blocks.get(headers) ?? this.#encode(headers);
  }

  /** Applies the setting by which the peer limits the size of its compression table, in bytes. */
  limitTable(size: number): void {
    const capacity = Math.min(size, DEFAULT_TABLE_SIZE);
    if (capacity === this.#capacity) return;
    this.#capacity = capacity;
    this.#mustResize = true;
    this.#blocks = new WeakMap();
    this.#entries = [];
    this.#size = 0;
  }

  #encode(headers: RequestHeaders): Buffer {
    const known = this.#entries.length;
    const out: number[] = [];
    const isResized = this.#mustResize;
    if (isResized) {
      // Announces a size of 0 before the new size, which empties the compression table of the peer (RFC 7541, section 4.2).
      writeInteger(out, RESIZE, 0);
      writeInteger(out, RESIZE, this.#capacity);
      this.#mustResize = false;
    }
    const list = Object.entries(headers);
    // Writes pseudo-headers before all other headers (RFC 9113, section 8.3).
    for (const header of list) if (header[0].startsWith(':')) this.#write(out, header);
    for (const header of list) if (!header[0].startsWith(':')) this.#write(out, header);
    const block = Buffer.from(out);
    // Caches only blocks that leave the compression table unchanged. A block that adds headers to the table would add them again if it were sent
    // twice.
    if (this.#entries.length === known && !isResized) this.#blocks.set(headers, block);
    return block;
  }

  #write(out: number[], header: Header): void {
    const [name, value] = header;
    const whole = STATIC_TABLE.findIndex((entry) => entry[0] === name && entry[1] === value) + 1;
    const own = this.#entries.indexOf(`${name}: ${value}`);
    if (whole > 0) writeInteger(out, INDEXED, whole);
    else if (own >= 0) writeInteger(out, INDEXED, STATIC_TABLE.length + this.#entries.length - own);
    else {
      const known = STATIC_TABLE.findIndex((entry) => entry[0] === name) + 1;
      writeInteger(out, this.#kindOf(header), known);
      if (known === 0) writeText(out, name);
      writeText(out, value);
    }
  }

  /**
   * Returns the kind of header field with which to write a header that is not in the compression table. Adds the header to the table, unless it is
   * secret, varies between requests, or does not fit.
   */
  #kindOf(header: Header): number {
    const [name, value] = header;
    if (SECRETS.has(name)) return NEVER_INDEXED;
    const size = sizeOfHeader(header);
    if (name === VARYING || this.#size + size > this.#capacity) return NOT_INDEXED;
    this.#entries.push(`${name}: ${value}`);
    // Drops all cached blocks: a new header shifts the indexes of the others in the compression table, so the blocks would refer to wrong headers.
    this.#blocks = new WeakMap();
    this.#size += size;
    return INDEXING;
  }
}

/** For each kind of header field (such as `INDEXED`): the mask of the bits in its first byte that hold a number. */
const MASKS: Readonly<Record<number, number>> = {
  [INDEXED]: 0x7f,
  [INDEXING]: 0x3f,
  [RESIZE]: 0x1f,
  [NEVER_INDEXED]: 0x0f,
  [NOT_INDEXED]: 0x0f,
};

/** Writes a number into the byte whose first bits are `kind`, and into further bytes if it does not fit (RFC 7541, section 5.1). */
function writeInteger(out: number[], kind: number, value: number): void {
  writeNumber(out, { kind, mask: MASKS[kind] as number }, value);
}

function writeNumber(
  out: number[],
  { kind, mask }: { readonly kind: number; readonly mask: number },
  value: number,
): void {
  if (value < mask) {
    out.push(kind | value);
    return;
  }
  out.push(kind | mask);
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
}

/** Writes a text without the Huffman code, which would save few bytes. */
function writeText(out: number[], text: string): void {
  const bytes = Buffer.from(text, 'latin1');
  writeNumber(out, { kind: 0, mask: 0x7f }, bytes.length);
  for (const byte of bytes) out.push(byte);
}
