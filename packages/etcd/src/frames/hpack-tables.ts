/** A header: its name and its value. */
export type Header = readonly [name: string, value: string];

/** The static table (RFC 7541, appendix A). Its first entry has the index 1. */
export const STATIC_TABLE: readonly Header[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...namesOnly(
    'accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control ' +
      'content-disposition content-encoding content-language content-length content-location content-range ' +
      'content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range ' +
      'if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range ' +
      'referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary ' +
      'via www-authenticate',
  ),
];

/** The size of a dynamic table of HPACK in bytes, until a setting of the peer changes it. */
export const DEFAULT_TABLE_SIZE = 4_096;

/** Bytes that a header in a table counts in addition to its name and value (RFC 7541, section 4.1). */
export const OVERHEAD = 32;

function namesOnly(names: string): Header[] {
  return names.split(' ').map((name): Header => [name, '']);
}

/** Returns how many bytes a header counts in a table. */
export function sizeOfHeader([name, value]: Header): number {
  return name.length + value.length + OVERHEAD;
}

/** The table of recent headers (RFC 7541, section 2.3.2). It drops its oldest entries when it is full. */
export class DynamicTable {
  /** The headers in the table, the oldest first. */
  readonly #entries: Header[] = [];
  #size = 0;
  #capacity = DEFAULT_TABLE_SIZE;

  get length(): number {
    return this.#entries.length;
  }

  /** Returns a header of the table by its age: 0 is the newest. */
  at(age: number): Header | undefined {
    return this.#entries[this.#entries.length - 1 - age];
  }

  /** Adds a header to the table. A header that is larger than the table empties it. */
  add(header: Header): void {
    const size = sizeOfHeader(header);
    this.#shrinkTo(this.#capacity - size);
    if (size > this.#capacity) return;
    this.#entries.push(header);
    this.#size += size;
  }

  /** Changes the capacity of the table, in bytes, and drops the oldest headers that exceed it. */
  resize(capacity: number): void {
    this.#capacity = capacity;
    this.#shrinkTo(capacity);
  }

  #shrinkTo(size: number): void {
    while (this.#size > size) {
      const oldest = this.#entries.shift();
      if (oldest === undefined) return;
      this.#size -= sizeOfHeader(oldest);
    }
  }
}
