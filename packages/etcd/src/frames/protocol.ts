// Folder "frames": speaks HTTP/2 (RFC 9113) on one connection of a client, without gRPC.
// protocol.ts (this file) names the constants. frame-reader.ts and frame-writer.ts convert frames and bytes. header-blocks.ts joins the
// frames of headers; the files hpack-… decode and encode them (RFC 7541). settings.ts reads the settings of the peer. data-sender.ts waits
// for the windows of the peer. frame-budget.ts limits frames without use. stream.ts and connection.ts join all of it.

export const DATA = 0x0;
export const HEADERS = 0x1;
export const PRIORITY = 0x2;
export const RST_STREAM = 0x3;
export const SETTINGS = 0x4;
export const PUSH_PROMISE = 0x5;
export const PING = 0x6;
export const GOAWAY = 0x7;
export const WINDOW_UPDATE = 0x8;
export const CONTINUATION = 0x9;

export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const HAS_PRIORITY = 0x20;

/** The size of the header of an HTTP/2 frame, in bytes. */
export const FRAME_HEADER = 9;
/** The maximum size of a frame's payload without its header. Every peer must accept it, and this client accepts no more. */
export const MAX_FRAME_SIZE = 16_384;
/** The maximum number of bytes that a flow-control window permits. It is also the largest id of a stream. */
export const MAX_31_BITS: number = 2 ** 31 - 1;
/** The number of bytes that every flow-control window permits until a setting or a window update changes it. */
export const INITIAL_WINDOW = 65_535;
/**
 * Maximum number of streams that are open before the peer has sent its own limit. A peer with a lower limit refuses the others. The settings arrive
 * before the first response, so a burst of more calls waits for one round trip at most.
 */
export const STREAMS_BEFORE_SETTINGS = 10;

/** The codes of errors in RST_STREAM and GOAWAY (RFC 9113, section 7). */
export const ERROR_CODES = {
  NO_ERROR: 0x0,
  PROTOCOL_ERROR: 0x1,
  INTERNAL_ERROR: 0x2,
  FLOW_CONTROL_ERROR: 0x3,
  FRAME_SIZE_ERROR: 0x6,
  REFUSED_STREAM: 0x7,
  CANCEL: 0x8,
  COMPRESSION_ERROR: 0x9,
  ENHANCE_YOUR_CALM: 0xb,
} as const;

/** The name of an error code of HTTP/2. */
export type ErrorName = keyof typeof ERROR_CODES;

/** A violation of HTTP/2 by the peer, which ends the connection. */
export class ConnectionError extends Error {
  /** The error code that the GOAWAY frame to the peer contains. */
  readonly code: number;

  /** @param rule text that describes what the peer has sent */
  constructor(name: ErrorName, rule: string) {
    super(`invalid HTTP/2 from the member: ${rule} (${name})`);
    this.name = 'ConnectionError';
    this.code = ERROR_CODES[name];
  }
}
