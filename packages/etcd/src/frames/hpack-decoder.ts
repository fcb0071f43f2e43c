import { ConnectionError } from './protocol.ts';
import type { Bytes } from './frame-reader.ts';
import { DEFAULT_TABLE_SIZE, DynamicTable, OVERHEAD, STATIC_TABLE, type Header } from './hpack-tables.ts';
import { huffmanDecoded } from './huffman.ts';

/** Receives the headers that a `HpackDecoder` has decoded. */
export interface HeaderListener {
  onHeader(name: string, value: string): void;
}

/**
 * Maximum size of the decoded headers of one block, in bytes. Each header counts as 32 bytes more than its name and value. The settings announce this
 * limit to the peer.
 */
export const MAX_HEADER_LIST = 65_536;
// The largest shift, in bits, of a byte that continues a number in a block of headers. Numbers are lengths and indexes, so any that needs more than
// four further bytes exceeds every limit.
const MAX_SHIFT = 21;
const INDEXED = 0x80;
const INDEXING = 0x40;
const RESIZE = 0x20;
const HUFFMAN = 0x80;

/**
 * Decodes the headers that the peer has compressed (RFC 7541). Every block of headers on a connection must be decoded, since later blocks refer to
 * it.
 */
export class HpackDecoder {
  readonly #table = new DynamicTable();
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  /**
   * Decodes one block of headers.
   * @throws {ConnectionError} if the block is invalid or too large; then no further block can be decoded
   */
  decode({ bytes, start, end }: Bytes, listener: HeaderListener): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    let isFirst = true;
    let size = 0;
    while (this.#at < end) {
      const first = bytes[this.#at] as number;
      if (first < INDEXING && first >= RESIZE) {
        if (!isFirst) throw invalid('a change of the table after a header');
        this.#resize();
        continue;
      }
      isFirst = false;
      const header = first >= INDEXED ? this.#indexed(first) : this.#literal(first);
      size += header[0].length + header[1].length + OVERHEAD;
      if (size > MAX_HEADER_LIST)
        throw new ConnectionError('ENHANCE_YOUR_CALM', `headers of more than ${MAX_HEADER_LIST} bytes`);
      listener.onHeader(header[0], header[1]);
    }
  }

  #resize(): void {
    const capacity = this.#integer(RESIZE - 1);
    if (capacity > DEFAULT_TABLE_SIZE) throw invalid('a table that is larger than permitted');
    this.#table.resize(capacity);
  }

  #indexed(first: number): Header {
    if (first === 0xff) return this.#entry(this.#integer(0x7f));
    this.#at += 1;
    return this.#entry(first - INDEXED);
  }

  #literal(first: number): Header {
    const isIndexed = first >= INDEXING;
    const index = this.#integer(isIndexed ? INDEXING - 1 : 0x0f);
    const name = index === 0 ? this.#text() : this.#entry(index)[0];
    const header: Header = [name, this.#text()];
    if (isIndexed) this.#table.add(header);
    return header;
  }

  #entry(index: number): Header {
    const { length } = STATIC_TABLE;
    const entry = index <= length ? STATIC_TABLE[index - 1] : this.#table.at(index - length - 1);
    if (entry === undefined) throw invalid(`a header with the unknown index ${index}`);
    return entry;
  }

  #text(): string {
    const isHuffman = ((this.#bytes[this.#at] as number) & HUFFMAN) !== 0;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw invalid('an incomplete header');
    this.#at = end;
    if (isHuffman) return huffmanDecoded({ bytes: this.#bytes, start, end });
    return this.#bytes.toString('latin1', start, end);
  }

  /** Reads a number that starts in those bits of the current byte that the mask selects (RFC 7541, section 5.1). */
  #integer(mask: number): number {
    if (this.#at >= this.#end) throw invalid('an incomplete header');
    let value = (this.#bytes[this.#at++] as number) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= MAX_SHIFT; shift += 7) {
      if (this.#at >= this.#end) throw invalid('an incomplete header');
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw invalid('a header with a number that is too large');
  }
}

function invalid(rule: string): ConnectionError {
  return new ConnectionError('COMPRESSION_ERROR', rule);
}
