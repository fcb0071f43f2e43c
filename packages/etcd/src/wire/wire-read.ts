import protobuf from 'protobufjs/minimal.js';

/** Where the next bytes of a message are read. */
type WireReader = protobuf.Reader;

/** Reads one field; knows what the message has for it already. */
interface Read<T> {
  readonly tag: number;
  readonly read: (reader: WireReader, before: T) => T;
}

/** Reads one field, whatever was there before. */
interface ReadOne<T> {
  readonly tag: number;
  readonly read: (reader: WireReader) => T;
}

/** Reads a message that ends there. */
export type Decode<T> = (reader: WireReader, end: number) => T;

/** The fields of a message that are read; others are skipped. */
export type FieldsToRead<T> = { readonly [K in keyof T]?: Read<T[K]> };

const VARINT = 0;
const DELIMITED = 2;
const TYPE_BITS = 7;
const TWO_TO_32 = 2 ** 32;
// From here up a number of two words is not exact any more.
const EXACT_HIGH = 2 ** 21;

/** How a message is read: as `empty` makes it, with what was sent. */
export function decoder<T>(empty: () => T, fields: FieldsToRead<T>): Decode<T> {
  const setters = new Map<number, (reader: WireReader, message: T) => void>();
  const prepare = <K extends keyof T>(name: K, field: Read<T[K]> | undefined): void => {
    if (!field) return;
    setters.set(field.tag, (reader, message) => {
      message[name] = field.read(reader, message[name]);
    });
  };
  for (const name in fields) prepare(name, fields[name]);
  return (reader, end) => {
    const message = empty();
    while (reader.pos < end) {
      const tag = reader.uint32();
      const set = setters.get(tag);
      if (set) set(reader, message);
      else reader.skipType(tag & TYPE_BITS);
    }
    return message;
  };
}

/** The message that the bytes are. Throws on bytes that are none. */
export function decoded<T>(decode: Decode<T>, bytes: Uint8Array): T {
  return decode(protobuf.Reader.create(bytes), bytes.length);
}

/** A copy: whoever keeps a key does not keep all that came along with it. */
export function getBytes(field: number): ReadOne<Buffer> {
  return { tag: tagOf(field, DELIMITED), read: (reader) => Buffer.from(reader.bytes()) };
}

export function getText(field: number): ReadOne<string> {
  return { tag: tagOf(field, DELIMITED), read: (reader) => reader.string() };
}

export function getBool(field: number): ReadOne<boolean> {
  return { tag: tagOf(field, VARINT), read: (reader) => reader.bool() };
}

/** A signed 64-bit number as decimal text. */
export function getInt64(field: number): ReadOne<string> {
  return { tag: tagOf(field, VARINT), read: (reader) => decimal(reader.int64()) };
}

/** The same without a sign. */
export function getUint64(field: number): ReadOne<string> {
  return { tag: tagOf(field, VARINT), read: (reader) => decimal(reader.uint64()) };
}

/** A choice by its name; the first one where the number is not known. */
export function getChoice<Name extends string>(
  field: number,
  names: readonly [Name, ...Name[]],
): ReadOne<Name> {
  return { tag: tagOf(field, VARINT), read: (reader) => names[reader.int32()] ?? names[0] };
}

export function getMessage<T>(field: number, decode: () => Decode<T>): ReadOne<T> {
  return {
    tag: tagOf(field, DELIMITED),
    read: (reader) => {
      const length = reader.uint32();
      return decode()(reader, reader.pos + length);
    },
  };
}

/** One more of a list. */
export function getEach<T>({ tag, read }: ReadOne<T>): Read<T[]> {
  return {
    tag,
    read: (reader, list) => {
      list.push(read(reader));
      return list;
    },
  };
}

function decimal({ high, low, unsigned }: protobuf.Long): string {
  if (high >= 0 && high < EXACT_HIGH) return String(high * TWO_TO_32 + (low >>> 0));
  const value = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return (unsigned ? BigInt.asUintN(64, value) : value).toString();
}

function tagOf(field: number, type: number): number {
  return (field << 3) | type;
}
