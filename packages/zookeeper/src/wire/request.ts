import { LENGTH_BYTES, framed } from './frames.ts';
import type { Get } from './jute-read.ts';
import { JuteWriter, type Put } from './jute-write.ts';

const XID_AT = LENGTH_BYTES;

/** One request, ready to be numbered and sent, once. */
export interface WireRequest<T> {
  /** With its length; the number is missing. */
  readonly frame: Buffer;
  /** Reads what comes back, if it is no error. */
  readonly answer: Get<T>;
}

/** What a request is made of. */
export interface RequestParts<T> {
  readonly type: number;
  readonly body?: Put<void>;
  readonly answer: Get<T>;
}

export function requestOf<T>({ type, body, answer }: RequestParts<T>): WireRequest<T> {
  const writer = new JuteWriter().int(LENGTH_BYTES).int(0).int(type);
  body?.(writer);
  return { frame: framed(writer.bytes()), answer };
}

/** How long its frame is, as the server counts: without the length itself. */
export function sizeOf({ frame }: WireRequest<unknown>): number {
  return frame.length - LENGTH_BYTES;
}

/** The bytes to send. */
export function numbered({ frame }: WireRequest<unknown>, xid: number): Buffer {
  frame.writeInt32BE(xid, XID_AT);
  return frame;
}

/** Reads nothing. */
export function nothing(): undefined {
  return undefined;
}
