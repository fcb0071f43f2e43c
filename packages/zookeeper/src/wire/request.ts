import { LENGTH_BYTES, framed } from './frames.ts';
import type { Get } from './jute-read.ts';
import { JuteWriter, putInt, type Put } from './jute-write.ts';

const XID_AT = LENGTH_BYTES;
const TYPE_AT = XID_AT + 4;

/** An encoded request that can be numbered and sent once. */
export interface WireRequest<T> {
  /** The encoded request with its length. The request number is still missing. */
  readonly frame: Buffer;
  /** Parses the content of the reply. Not called if the reply is an error. */
  readonly answer: Get<T>;
}

/** The parts from which a request is encoded. */
export interface RequestParts<T> {
  readonly type: number;
  readonly body?: Put<void>;
  readonly answer: Get<T>;
}

export function requestOf<T>({ type, body, answer }: RequestParts<T>): WireRequest<T> {
  // Leaves room for the length and the request number, which are written later.
  const writer = new JuteWriter(TYPE_AT).int(type);
  body?.(writer);
  return { frame: framed(writer.bytes()), answer };
}

/** Returns the size of the frame as the server counts it: without the length itself. */
export function sizeOf({ frame }: WireRequest<unknown>): number {
  return frame.length - LENGTH_BYTES;
}

/** Writes the request number into the frame of the request, and returns the bytes to send. */
export function numbered({ frame }: WireRequest<unknown>, xid: number): Buffer {
  putInt(frame, XID_AT, xid);
  return frame;
}

/** Parses a reply without content. */
export function nothing(): undefined {
  return undefined;
}
