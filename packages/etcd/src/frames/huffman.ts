import { ConnectionError } from './protocol.ts';
import type { Bytes } from './frame-reader.ts';

/**
 * The Huffman code of HPACK (RFC 7541, appendix B). Each row has a code length in bits, and the bytes whose codes have this length, in hexadecimal.
 * The code is canonical: codes are assigned in the order of this list, so the lengths determine them.
 */
const BYTES_BY_LENGTH: readonly (readonly [bits: number, bytes: string])[] = [
  [5, '30-32 61 63 65 69 6f 73-74'],
  [6, '20 25 2d-2f 33-39 3d 41 5f 62 64 66-68 6c-6e 70 72 75'],
  [7, '3a 42-57 59 6a-6b 71 76-7a'],
  [8, '26 2a 2c 3b 58 5a'],
  [10, '21-22 28-29 3f'],
  [11, '27 2b 7c'],
  [12, '23 3e'],
  [13, '00 24 40 5b 5d 7e'],
  [14, '5e 7d'],
  [15, '3c 60 7b'],
  [19, '5c c3 d0'],
  [20, '80 82-83 a2 b8 c2 e0 e2'],
  [21, '99 a1 a7 ac b0-b1 b3 d1 d8-d9 e3 e5-e6'],
  [22, '81 84-86 88 92 9a 9c a0 a3-a4 a9-aa ad b2 b5 b9-bb bd-be c4 c6 e4 e8-e9'],
  [23, '01 87 89-8d 8f 93 95-98 9b 9d-9e a5-a6 a8 ae-af b4 b6-b7 bc bf c5 e7 ef'],
  [24, '09 8e 90-91 94 9f ab ce d7 e1 ec-ed'],
  [25, 'c7 cf ea-eb'],
  [26, 'c0-c1 c8-ca cd d2 d5 da-db ee f0 f2-f3 ff'],
  [27, 'cb-cc d3-d4 d6 dd-df f1 f4-f8 fa-fe'],
  [28, '02-08 0b-0c 0e-15 17-1f 7f dc f9'],
  [30, '0a 0d 16'],
];
// Length of the longest codes, in bits. The code of 30 ones marks the end of a string (EOS), and a peer must not send it.
const LONGEST = 30;
const MAX_PADDING = 7;

/** All bytes, ordered by their Huffman codes. */
const SYMBOLS: number[] = [];
/**
 * For each length of Huffman codes in bits: the first code of that length. `COUNTS` contains the number of these codes, and `PLACES` the index in
 * `SYMBOLS` of the byte with the first code.
 */
const FIRST_CODES: number[] = [];
const COUNTS: number[] = [];
const PLACES: number[] = [];

function prepare(): void {
  const byLength = new Map(BYTES_BY_LENGTH.map(([bits, bytes]) => [bits, bytesOf(bytes)]));
  let code = 0;
  for (let bits = 0; bits <= LONGEST; bits += 1) {
    const symbols = byLength.get(bits) ?? [];
    FIRST_CODES.push(code);
    COUNTS.push(symbols.length);
    PLACES.push(SYMBOLS.length);
    SYMBOLS.push(...symbols);
    code = (code + symbols.length) * 2;
  }
}

/** Returns the bytes of a list of hexadecimal numbers and ranges. */
function bytesOf(list: string): number[] {
  return list.split(' ').flatMap((item) => {
    const [first = 0, last = first] = item.split('-').map((number) => Number.parseInt(number, 16));
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/**
 * Decodes a Huffman-coded string bit by bit. That is fast enough, since strings are short, and the peer sends most of them only once (later it refers
 * to the dynamic table).
 * @throws {ConnectionError} if the end of the string is invalid
 */
export function huffmanDecoded({ bytes, start, end }: Bytes): string {
  if (SYMBOLS.length === 0) prepare();
  // The shortest code has 5 bits, so at most this many bytes are decoded.
  const decoded = Buffer.allocUnsafe(Math.floor(((end - start) * 8) / 5));
  let length = 0;
  let code = 0;
  let bits = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    for (let shift = 7; shift >= 0; shift -= 1) {
      code = (code << 1) | ((byte >> shift) & 1);
      bits += 1;
      const place = code - (FIRST_CODES[bits] as number);
      if (place < (COUNTS[bits] as number)) {
        decoded[length++] = SYMBOLS[(PLACES[bits] as number) + place] as number;
        code = 0;
        bits = 0;
      } else if (bits === LONGEST) throw invalid();
    }
  }
  if (bits > MAX_PADDING || code !== (1 << bits) - 1) throw invalid();
  return decoded.toString('latin1', 0, length);
}

function invalid(): ConnectionError {
  return new ConnectionError('COMPRESSION_ERROR', 'a header with an invalid Huffman code');
}
