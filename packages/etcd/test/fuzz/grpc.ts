import { MessageReader } from '../../src/wire/grpc-messages.ts';
import * as methods from '../../src/wire/http2-methods.ts';
import { decoded, type Decode } from '../../src/wire/wire-read.ts';
import RECORDED from './grpc.json' with { type: 'json' };
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

const DECODERS = Object.values(methods).map(({ decode }) => decode as Decode<unknown>);

/**
 * Returns the fuzz target for the decoder of a gRPC stream from etcd. The first byte of an input, plus one, is the size of the chunks in which its
 * other bytes arrive. Each message is decoded as every kind of response.
 */
export function open(): FuzzTarget {
  const recorded = RECORDED.map((text) => Buffer.from(text, 'hex'));
  const corpus = [...recorded, framed(nestedTransactions(50)), framed(nestedTransactions(20_000))];
  return { corpus: corpus.map((frame) => Buffer.concat([Buffer.from([64]), frame])), run };
}

/**
 * Creates a response to a transaction that contains the response to another transaction, `depth` levels deep. Decoding it must not overflow the
 * stack.
 */
function nestedTransactions(depth: number): Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < depth; level += 1) {
    const operation = Buffer.concat([Buffer.from([0x22]), varint(length)]);
    const response = Buffer.concat([Buffer.from([0x1a]), varint(operation.length + length)]);
    pieces.push(operation, response);
    length += operation.length + response.length;
  }
  return Buffer.concat(pieces.toReversed());
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function run(input: Buffer): void {
  for (const message of messagesIn(input))
    for (const decode of DECODERS) {
      try {
        requireSmall(decoded(decode, message), message.length);
      } catch (error) {
        if (!isExpected(error)) throw error;
      }
    }
}

function messagesIn(input: Buffer): Buffer[] {
  const reader = new MessageReader();
  const size = (input[0] ?? 0) + 1;
  const messages: Buffer[] = [];
  try {
    for (let at = 1; at < input.length; at += size)
      messages.push(...reader.push(input.subarray(at, at + size)));
  } catch (error) {
    if (!(error instanceof Error && /compressed|are read/.test(error.message))) throw error;
  }
  return messages;
}

/** Returns whether the error is the `RangeError` of an invalid message. A stack overflow is a `RangeError` too, but counts as a defect. */
function isExpected(error: unknown): boolean {
  return error instanceof RangeError && !/call stack/.test(error.message);
}

/** Throws if all lists in a decoded message together have more items than the message has bytes, because each item takes at least two bytes. */
function requireSmall(message: unknown, bytes: number): void {
  const items = itemsIn(message);
  if (items > bytes) throw new Error(`${items} items from ${bytes} bytes`);
}

function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce<number>((sum, part) => sum + itemsIn(part), own);
}
