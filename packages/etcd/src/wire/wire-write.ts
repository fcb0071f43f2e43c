import protobuf from 'protobufjs/minimal.js';

/** Collects the bytes of a message. */
type WireWriter = protobuf.Writer;

/** Writes one field of a message; the number that it has there is its first argument. */
type Write<T> = (writer: WireWriter, value: T) => void;

/** Writes all fields of a message that it has. */
export type Encode<T> = (writer: WireWriter, message: T) => WireWriter;

/** Every field that a message may have. */
export type FieldsToWrite<T> = { readonly [K in keyof T]-?: Write<NonNullable<T[K]>> };

const VARINT = 0;
const DELIMITED = 2;
// So many digits fit into a number whatever they are.
const EXACT_DIGITS = 15;

/** How a message is written. Defaults are written where they are given, as the members of a oneof have to be. */
export function encoder<T extends object>(fields: FieldsToWrite<T>): Encode<T> {
  const writers: ((writer: WireWriter, message: T) => void)[] = [];
  const prepare = <K extends keyof T>(name: K, write: Write<NonNullable<T[K]>>): void => {
    writers.push((writer, message) => {
      const value = message[name];
      if (value !== undefined && value !== null) write(writer, value);
    });
  };
  for (const name in fields) prepare(name, fields[name]);
  return (writer, message) => {
    for (const write of writers) write(writer, message);
    return writer;
  };
}

/** The message as bytes. */
export function encoded<T>(encode: Encode<T>, message: T): Uint8Array {
  return encode(protobuf.Writer.create(), message).finish();
}

export function putBytes(field: number): Write<Buffer> {
  const tag = tagOf(field, DELIMITED);
  return (writer, value) => writer.uint32(tag).bytes(value);
}

export function putText(field: number): Write<string> {
  const tag = tagOf(field, DELIMITED);
  return (writer, value) => writer.uint32(tag).string(value);
}

export function putBool(field: number): Write<boolean> {
  const tag = tagOf(field, VARINT);
  return (writer, value) => writer.uint32(tag).bool(value);
}

/** A signed 64-bit number, also as decimal text. */
export function putInt64(field: number): Write<string | number> {
  const tag = tagOf(field, VARINT);
  return (writer, value) =>
    writer
      .uint32(tag)
      .int64(typeof value === 'string' && value.length <= EXACT_DIGITS ? Number(value) : value);
}

/** A choice by its name, or by its number. */
export function putChoice<Name extends string>(field: number, names: readonly Name[]): Write<Name | number> {
  const tag = tagOf(field, VARINT);
  return (writer, value) =>
    writer.uint32(tag).int32(typeof value === 'number' ? value : names.indexOf(value));
}

export function putMessage<T>(field: number, encode: () => Encode<T>): Write<T> {
  const tag = tagOf(field, DELIMITED);
  return (writer, value) => encode()(writer.uint32(tag).fork(), value).ldelim();
}

export function putEach<T>(write: Write<T>): Write<readonly T[]> {
  return (writer, values) => {
    for (const value of values) write(writer, value);
  };
}

function tagOf(field: number, type: number): number {
  return (field << 3) | type;
}
