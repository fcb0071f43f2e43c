// Messages are written without a library. A general encoder makes several function calls for each field, and these calls dominate the CPU time of a
// process whose code is not compiled yet.

/** The kinds of fields of etcd's messages. */
type Kind = 'bytes' | 'text' | 'bool' | 'int64' | 'choice' | 'message';

/** Describes how one field of a message is written. */
interface Write {
  readonly kind: Kind;
  readonly tag: number;
  /** Whether the field is repeated. */
  readonly each: boolean;
  /** The names of an enumeration by number. */
  readonly names?: readonly string[];
  /** The nested message. It is a function, since messages refer to each other. */
  readonly message?: () => Encode<unknown>;
}

/** The fields of a message, each with the name of its property. */
type Layout = readonly (readonly [name: string, write: Write])[];

type Fields = Readonly<Record<string, unknown>>;

declare const MESSAGE: unique symbol;
declare const VALUE: unique symbol;

/** Describes how a message of one type is written. */
export interface Encode<T> {
  readonly layout: Layout;
  readonly [MESSAGE]?: T;
}

/** A field with the type of its value. */
interface WriteOf<T> extends Write {
  readonly [VALUE]?: (value: T) => void;
}

/** All fields of a message. */
export type FieldsToWrite<T> = { readonly [K in keyof T]-?: WriteOf<NonNullable<T[K]>> };

const VARINT = 0;
const DELIMITED = 2;
/** The size of the gRPC prefix: one byte for the compression, four for the length. */
const PREFIX = 5;
// A decimal text with at most this many digits is exact as a JavaScript number.
const EXACT_DIGITS = 15;
const MAX_VARINT = 10;
const TWO_TO_31 = 2 ** 31;
const USUAL_SIZE = 4_096;

// Encoding is synchronous, so all messages share one buffer.
let buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
let at = 0;

/** Describes how a message is written. Default values are written too if they are set, since the members of a oneof need that. */
export function encoder<T extends object>(fields: FieldsToWrite<T>): Encode<T> {
  return { layout: Object.entries<Write>(fields) };
}

/** Returns the message as gRPC sends it: uncompressed, with its length in front. */
export function framed<T extends object>(encode: Encode<T>, message: T): Buffer {
  buffer[0] = 0;
  at = PREFIX;
  writeMessage(encode.layout, message as Fields);
  buffer.writeUInt32BE(at - PREFIX, 1);
  const frame = Buffer.allocUnsafe(at);
  frame.set(buffer.subarray(0, at));
  // A large buffer is not kept.
  if (buffer.length > USUAL_SIZE) buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
  return frame;
}

export function putBytes(field: number): WriteOf<Buffer> {
  return { kind: 'bytes', tag: tagOf(field, DELIMITED), each: false };
}

export function putText(field: number): WriteOf<string> {
  return { kind: 'text', tag: tagOf(field, DELIMITED), each: false };
}

export function putBool(field: number): WriteOf<boolean> {
  return { kind: 'bool', tag: tagOf(field, VARINT), each: false };
}

/** Writes a signed 64-bit number from a number or decimal text. */
export function putInt64(field: number): WriteOf<string | number> {
  return { kind: 'int64', tag: tagOf(field, VARINT), each: false };
}

/** Writes an enumeration by name. */
export function putChoice<Name extends string>(field: number, names: readonly Name[]): WriteOf<Name> {
  return { kind: 'choice', tag: tagOf(field, VARINT), each: false, names };
}

export function putMessage<T>(field: number, encode: () => Encode<T>): WriteOf<T> {
  return { kind: 'message', tag: tagOf(field, DELIMITED), each: false, message: encode };
}

export function putEach<T>(write: WriteOf<T>): WriteOf<readonly T[]> {
  return { ...(write as Write), each: true };
}

function writeMessage(layout: Layout, message: Fields): void {
  for (let i = 0; i < layout.length; i += 1) {
    const [name, write] = layout[i] as Layout[number];
    const value = message[name];
    if (value === undefined || value === null) continue;
    if (!write.each) writeField(write, value);
    else for (const one of value as readonly unknown[]) writeField(write, one);
  }
}

function writeField(write: Write, value: unknown): void {
  if (at + 2 * MAX_VARINT > buffer.length) grow(2 * MAX_VARINT);
  if (write.tag < 0x80) buffer[at++] = write.tag;
  else writeVarint(write.tag);
  switch (write.kind) {
    case 'bytes':
      writeBytes(value as Uint8Array);
      break;
    case 'text':
      writeBytes(Buffer.from(value as string));
      break;
    case 'bool':
      buffer[at++] = value === true ? 1 : 0;
      break;
    case 'int64':
      writeInt64(value as string | number);
      break;
    case 'choice':
      writeVarint((write.names ?? []).indexOf(value as string));
      break;
    case 'message':
      writeNested((write.message as () => Encode<unknown>)().layout, value as Fields);
      break;
  }
}

/** Writes a nested message. It reserves one byte for the length, and moves the message if the length needs more. */
function writeNested(layout: Layout, message: Fields): void {
  const begin = (at += 1);
  writeMessage(layout, message);
  const length = at - begin;
  if (length < 0x80) {
    buffer[begin - 1] = length;
    return;
  }
  if (at + MAX_VARINT > buffer.length) grow(MAX_VARINT);
  const more = length < 0x4000 ? 1 : Math.floor(Math.log2(length) / 7);
  buffer.copyWithin(begin + more, begin, at);
  at = begin - 1;
  writeVarint(length);
  at += length;
}

function writeBytes(bytes: Uint8Array): void {
  const { length } = bytes;
  if (at + length + MAX_VARINT > buffer.length) grow(length + MAX_VARINT);
  if (length < 0x80) buffer[at++] = length;
  else writeVarint(length);
  buffer.set(bytes, at);
  at += length;
}

function writeInt64(value: string | number): void {
  const number = typeof value === 'string' && value.length <= EXACT_DIGITS ? Number(value) : value;
  if (typeof number === 'number' && number >= 0) writeVarint(number);
  else writeTwoWords(BigInt.asUintN(64, BigInt(number)));
}

/** Writes a number from 0 to 2^53 - 1. */
function writeVarint(value: number): void {
  let rest = value;
  while (rest >= TWO_TO_31) {
    buffer[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
}

/** Writes a number of 64 bits. Arithmetic on bigints is slow, so each step takes 28 bits. */
function writeTwoWords(value: bigint): void {
  let rest = value;
  while (rest >= 0x1000_0000n) {
    const low = Number(rest & 0xfff_ffffn);
    for (let shift = 0; shift < 28; shift += 7) buffer[at++] = ((low >>> shift) & 0x7f) | 0x80;
    rest >>= 28n;
  }
  writeVarint(Number(rest));
}

/** Enlarges the buffer. Callers check first whether that is needed, since it seldom is. */
function grow(bytes: number): void {
  const larger = Buffer.allocUnsafeSlow(2 * (at + bytes));
  larger.set(buffer.subarray(0, at));
  buffer = larger;
}

function tagOf(field: number, type: number): number {
  return (field << 3) | type;
}
