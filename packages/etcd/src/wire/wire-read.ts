// Decodes messages without a library. A general decoder makes several function calls for each field. In a process that has just started, whose code
// Node has not compiled yet, these calls would take most of the CPU time. Bytes from a member are not trusted: invalid messages throw.

/** The kinds of fields of etcd's messages. */
type Kind = 'bytes' | 'text' | 'bool' | 'int64' | 'uint64' | 'choice' | 'message';

/** Describes how one field of a message is read. */
interface Read {
  readonly kind: Kind;
  readonly tag: number;
  /** Whether the field is repeated, so that its values form a list. */
  readonly each: boolean;
  /** The names of an enumeration by number. */
  readonly names?: readonly string[];
  /** Returns the decoder of the message that the field contains. It is a function, because messages refer to each other. */
  readonly decode?: () => Decode<unknown>;
  /** The decoder of the nested message, stored after its first use. */
  nested?: Decode<unknown>;
}

declare const VALUE: unique symbol;

/** A field to read, with the TypeScript type of its decoded value. */
interface ReadOf<T> extends Read {
  readonly [VALUE]?: T;
}

/** Describes how a message of one type is read. */
export interface Decode<T> {
  /** The default value of each field of the message. A list is empty by default. */
  readonly defaults: T;
  /** The names of the message's fields that are lists. */
  readonly lists: readonly string[];
  /** The fields of the message by their tags, each with the name of its property in the decoded object. */
  readonly fields: readonly (readonly [name: string, read: Read] | undefined)[];
}

/**
 * The fields of a message to decode, by the property's name in the decoded object. The decoder skips all
 * other fields.
 */
export type FieldsToRead<T> = { readonly [K in keyof T]?: ReadOf<T[K]> };

type Fields = Record<string, unknown>;

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;
const TYPE_BITS = 7;
const MAX_VARINT = 10;
const EMPTY = Buffer.alloc(0);
const TWO_TO_32 = 2 ** 32;
// A number is below 2^53 if its upper 32 bits are below this value. A JavaScript number then represents it exactly; others need a bigint.
const EXACT_HIGH = 2 ** 21;
// The maximum depth of nested messages, as in protobuf's own readers. Deeper messages would exhaust the stack.
const MAX_DEPTH = 100;

// Decoding is synchronous, so all messages share these variables: the index of the next byte, and the two halves of the 64-bit number that is being
// read.
let at = 0;
let low = 0;
let high = 0;
// The number of messages in which the message that is being decoded is nested.
let depth = 0;

/** Creates a decoder of messages. A field that is absent from the message gets its value from `defaults`. */
export function decoder<T>(defaults: T, fields: FieldsToRead<T>): Decode<T> {
  const byTag: (readonly [string, Read] | undefined)[] = [];
  for (const [name, read] of Object.entries<Read | undefined>(fields))
    if (read) byTag[read.tag] = [name, read];
  const lists = Object.entries<unknown>(defaults as Fields).filter(([, value]) => Array.isArray(value));
  return { defaults, lists: lists.map(([name]) => name), fields: byTag };
}

/** Decodes a message. Throws if the bytes are not a valid message. */
export function decoded<T>(decode: Decode<T>, bytes: Buffer): T {
  at = 0;
  depth = 0;
  return readMessage(decode, bytes, bytes.length);
}

/**
 * Describes a field with bytes, which is decoded to a view of the message. Objects that exist for long keep a text or a copy instead, because a view
 * keeps the whole message in memory.
 */
export function getBytes(field: number): ReadOf<Buffer> {
  return { kind: 'bytes', tag: tagOf(field, DELIMITED), each: false };
}

export function getText(field: number): ReadOf<string> {
  return { kind: 'text', tag: tagOf(field, DELIMITED), each: false };
}

export function getBool(field: number): ReadOf<boolean> {
  return { kind: 'bool', tag: tagOf(field, VARINT), each: false };
}

/** Describes a field with a signed 64-bit number, which is decoded to decimal text. */
export function getInt64(field: number): ReadOf<string> {
  return { kind: 'int64', tag: tagOf(field, VARINT), each: false };
}

/** Describes a field with an unsigned 64-bit number, which is decoded to decimal text. */
export function getUint64(field: number): ReadOf<string> {
  return { kind: 'uint64', tag: tagOf(field, VARINT), each: false };
}

/** Describes a field with an enumeration, which is decoded to its name. An unknown number is decoded to the first of `names`. */
export function getChoice<Name extends string>(
  field: number,
  names: readonly [Name, ...Name[]],
): ReadOf<Name> {
  return { kind: 'choice', tag: tagOf(field, VARINT), each: false, names };
}

export function getMessage<T>(field: number, decode: () => Decode<T>): ReadOf<T> {
  return { kind: 'message', tag: tagOf(field, DELIMITED), each: false, decode };
}

/** Describes a repeated field, which is decoded to a list. */
export function getEach<T>(read: ReadOf<T>): ReadOf<T[]> {
  return { ...(read as Read), each: true };
}

// Nearly all tags, lengths and counts are a single byte, which is read without a function call.

function readMessage<T>({ defaults, lists, fields }: Decode<T>, bytes: Buffer, end: number): T {
  const message = { ...defaults } as Fields;
  for (const name of lists) message[name] = [];
  while (at < end) {
    let tag = bytes[at++] as number;
    if (tag >= 0x80) tag = readLongTag(bytes, end);
    const field = fields[tag];
    if (!field) {
      skip(tag & TYPE_BITS, bytes, end);
      continue;
    }
    const [name, read] = field;
    let value: unknown;
    if ((tag & TYPE_BITS) === DELIMITED) {
      const short = bytes[at] as number;
      const isShort = at < end && short < 0x80 && at + short < end;
      const begin = isShort ? at + 1 : readLength(bytes, end);
      const within = isShort ? begin + short : at;
      at = begin;
      if (read.kind === 'message') {
        depth += 1;
        if (depth > MAX_DEPTH) throw new RangeError(`messages nested more than ${MAX_DEPTH} deep`);
        value = readMessage((read.nested ??= decodeOf(read)), bytes, within);
        depth -= 1;
      } else value = readBytes(read, bytes, within);
    } else {
      const short = bytes[at] as number;
      const isNumber = read.kind === 'int64' || read.kind === 'uint64';
      if (isNumber && at < end && short < 0x80) {
        at += 1;
        value = String(short);
      } else value = readScalar(read, bytes, end);
    }
    if (read.each) (message[name] as unknown[]).push(value);
    else message[name] = value;
  }
  return message as T;
}

function decodeOf({ decode }: Read): Decode<unknown> {
  return (decode as () => Decode<unknown>)();
}

/** Reads the tag of a field that takes several bytes. The first of these bytes was read already. */
function readLongTag(bytes: Buffer, end: number): number {
  at -= 1;
  return readNumber(bytes, end);
}

function readScalar(read: Read, bytes: Buffer, end: number): unknown {
  readVarint(bytes, end);
  if (read.kind === 'bool') return low !== 0 || high !== 0;
  if (read.kind === 'choice') return read.names?.[low] ?? read.names?.[0];
  if (high < EXACT_HIGH) return String(high * TWO_TO_32 + low);
  const value = (BigInt(high) << 32n) | BigInt(low);
  return (read.kind === 'uint64' ? value : BigInt.asIntN(64, value)).toString();
}

/** Reads the value of a field with bytes or text, which ends before the index `end`. */
function readBytes(read: Read, bytes: Buffer, end: number): unknown {
  const begin = at;
  at = end;
  if (read.kind === 'text') return bytes.toString('utf8', begin, end);
  return begin === end ? EMPTY : bytes.subarray(begin, end);
}

/** Reads a length and skips that number of bytes. Returns where they begin. */
function readLength(bytes: Buffer, end: number): number {
  const first = bytes[at] as number;
  const isShort = at < end && first < 0x80;
  if (isShort) at += 1;
  const length = isShort ? first : readNumber(bytes, end);
  if (at + length > end) throw new RangeError(`${length} bytes where ${end - at} are left`);
  at += length;
  return at - length;
}

/** Reads a number, exactly up to 53 bits. That is enough for tags and lengths. */
function readNumber(bytes: Buffer, end: number): number {
  readVarint(bytes, end);
  return high * TWO_TO_32 + low;
}

/** Reads a 64-bit number into the shared variables `low` and `high`. */
function readVarint(bytes: Buffer, end: number): void {
  low = 0;
  high = 0;
  for (let shift = 0; shift < 7 * MAX_VARINT; shift += 7) {
    if (at >= end) throw new RangeError('an incomplete number');
    const byte = bytes[at++] as number;
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high = bits >>> 4;
    } else high |= bits << (shift - 32);
    if (byte < 0x80) {
      low >>>= 0;
      high >>>= 0;
      return;
    }
  }
  throw new RangeError('a number of more than 10 bytes');
}

function skip(type: number, bytes: Buffer, end: number): void {
  if (type === VARINT) skipVarint(bytes, end);
  else if (type === DELIMITED) readLength(bytes, end);
  else if (type === FIXED_64 || type === FIXED_32) at += type === FIXED_64 ? 8 : 4;
  else throw new RangeError(`a field of type ${type}`);
  if (at > end) throw new RangeError('an incomplete field');
}

/** Skips a number without computing it. Each response has a header with numbers of ten bytes that this package does not use. */
function skipVarint(bytes: Buffer, end: number): void {
  const limit = Math.min(end, at + MAX_VARINT);
  while (at < limit && (bytes[at] as number) >= 0x80) at += 1;
  if (at++ === limit) throw new RangeError('an incomplete number, or one of more than 10 bytes');
}

function tagOf(field: number, type: number): number {
  return (field << 3) | type;
}
