// Encodes messages without a library. A general encoder makes several function calls for each field. In a
// young process, whose code Node has not compiled yet, these calls would take most of the CPU time.

import { copyOf } from '../base/copied-bytes.ts';
import { PREFIX } from './grpc-messages.ts';

/** The kinds of fields of etcd's messages. */
type Kind = 'bytes' | 'text' | 'bool' | 'int64' | 'choice' | 'message';

/** Describes how one field of a message is written. */
interface Write {
  readonly kind: Kind;
  readonly tag: number;
  /** Whether the field is repeated, so that each value of a list is written. */
  readonly each: boolean;
  /** The names of an enumeration, by their numbers. */
  readonly names?: readonly string[];
  /** Returns the encoder of the message that the field contains. It is a function, because messages refer to each other. */
  readonly message?: () => Encode<unknown>;
  /** The layout of the nested message, stored after its first use. */
  nested?: Layout;
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

/** A field to write, with the TypeScript type of its value. */
interface WriteOf<T> extends Write {
  readonly [VALUE]?: (value: T) => void;
}

/** All fields of a message to encode, by the property's name in the object. */
export type FieldsToWrite<T> = { readonly [K in keyof T]-?: WriteOf<NonNullable<T[K]>> };

const VARINT = 0;
const DELIMITED = 2;
// Decimal text of at most this many digits can be converted to a JavaScript number exactly.
const EXACT_DIGITS = 15;
const MAX_VARINT = 10;
const TWO_TO_31 = 2 ** 31;
const USUAL_SIZE = 4_096;

// Encoding is synchronous, so all messages share one buffer.
let buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
let at = 0;

/** Creates an encoder. A field that is set is written even if it has the default value, since a field of a `oneof` counts as absent otherwise. */
export function encoder<T extends object>(fields: FieldsToWrite<T>): Encode<T> {
  return { layout: Object.entries<Write>(fields) };
}

/** Returns the message as gRPC sends it: uncompressed, with its length in front. */
export function framed<T extends object>(encode: Encode<T>, message: T): Buffer {
  at = PREFIX;
  writeMessage(encode.layout, message as Fields);
  const length = at - PREFIX;
  buffer[0] = 0;
  buffer[1] = length >>> 24;
  buffer[2] = length >>> 16;
  buffer[3] = length >>> 8;
  buffer[4] = length;
  const frame = copyOf(buffer, 0, at);
  // Replaces a large buffer, so that the next message does not keep it in memory.
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

/** Describes a field with a signed 64-bit number, given as a number or as decimal text. */
export function putInt64(field: number): WriteOf<string | number> {
  return { kind: 'int64', tag: tagOf(field, VARINT), each: false };
}

/** Describes a field with an enumeration, given by its name. */
export function putChoice<Name extends string>(field: number, names: readonly Name[]): WriteOf<Name> {
  return { kind: 'choice', tag: tagOf(field, VARINT), each: false, names };
}

export function putMessage<T>(field: number, encode: () => Encode<T>): WriteOf<T> {
  return { kind: 'message', tag: tagOf(field, DELIMITED), each: false, message: encode };
}

export function putEach<T>(write: WriteOf<T>): WriteOf<readonly T[]> {
  return { ...(write as Write), each: true };
}

// Writes all fields of a message. To save time, only nested messages, long lengths and long numbers take a function call.

function writeMessage(layout: Layout, message: Fields): void {
  for (let i = 0; i < layout.length; i += 1) {
    const [name, write] = layout[i] as Layout[number];
    const value = message[name];
    if (value === undefined || value === null) continue;
    const list = write.each ? (value as readonly unknown[]) : undefined;
    for (let n = list ? list.length : 1; n > 0; n -= 1) {
      const one = list ? list[list.length - n] : value;
      if (at + 2 * MAX_VARINT > buffer.length) grow(2 * MAX_VARINT);
      if (write.tag < 0x80) buffer[at++] = write.tag;
      else writeVarint(write.tag);
      if (write.kind === 'message') {
        const begin = (at += 1);
        writeMessage((write.nested ??= layoutOf(write)), one as Fields);
        // One byte was reserved for the length of the nested message. If the length needs more bytes, the message is moved to make room.
        if (at - begin < 0x80) buffer[begin - 1] = at - begin;
        else insertLength(begin);
      } else if (write.kind === 'bytes') {
        const bytes = one as Uint8Array;
        if (bytes.length >= 0x80 || at + bytes.length + 1 > buffer.length) writeBytes(bytes);
        else {
          buffer[at++] = bytes.length;
          buffer.set(bytes, at);
          at += bytes.length;
        }
      } else if (write.kind === 'choice') buffer[at++] = (write.names as readonly unknown[]).indexOf(one);
      else writeScalar(write, one);
    }
  }
}

function writeScalar({ kind }: Write, value: unknown): void {
  if (kind === 'text') writeBytes(Buffer.from(value as string));
  else if (kind === 'bool') buffer[at++] = value === true ? 1 : 0;
  else writeInt64(value as string | number);
}

function layoutOf({ message }: Write): Layout {
  return (message as () => Encode<unknown>)().layout;
}

/** Moves a nested message whose length needs more than one byte, and writes the length before it. */
function insertLength(begin: number): void {
  const length = at - begin;
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
  if (typeof number !== 'number' || number < 0) writeTwoWords(BigInt.asUintN(64, BigInt(number)));
  else if (number < 0x80) buffer[at++] = number;
  else writeVarint(number);
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

/** Writes a number of 64 bits. It takes 28 bits at a time, because arithmetic on bigints is slow. */
function writeTwoWords(value: bigint): void {
  let rest = value;
  while (rest >= 0x1000_0000n) {
    const low = Number(rest & 0xfff_ffffn);
    for (let shift = 0; shift < 28; shift += 7) buffer[at++] = ((low >>> shift) & 0x7f) | 0x80;
    rest >>= 28n;
  }
  writeVarint(Number(rest));
}

/** Enlarges the buffer for encoded messages. Callers check first whether that is needed, because it seldom is. */
function grow(bytes: number): void {
  const larger = Buffer.allocUnsafeSlow(2 * (at + bytes));
  larger.set(buffer.subarray(0, at));
  buffer = larger;
}

function tagOf(field: number, type: number): number {
  return (field << 3) | type;
}
