import { Connection } from '../src/frames/connection.ts';
import { Stream } from '../src/frames/stream.ts';
import type { Bytes } from '../src/frames/frame-reader.ts';

/** A frame that a connection has sent, for comparison in tests. */
export interface SentFrame {
  readonly type: string;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

const TYPES = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
  UNKNOWN: 0x42,
} as const;
const NAMES = Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [type, name]));
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const WINDOW = 100_000;

/** Returns the bytes of a frame. The payload is hexadecimal text, in which spaces are ignored, or bytes. */
export function frame(
  type: keyof typeof TYPES,
  { flags = 0, id = 0 }: { readonly flags?: number; readonly id?: number } = {},
  payload: string | Buffer = '',
): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload.replaceAll(' ', ''), 'hex') : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = TYPES[type];
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, bytes]);
}

/** Returns the payload of a SETTINGS frame. The argument maps the id of each setting to its value. */
export function settings(values: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(values).map(([id, value]) => {
    const entry = Buffer.alloc(6);
    entry.writeUInt16BE(Number(id), 0);
    entry.writeUInt32BE(value, 2);
    return entry;
  });
  return Buffer.concat(entries);
}

/** Returns a 32-bit number as four bytes, the highest first. */
export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A stream that records the headers, data and end of its response as text. */
export class RecordedStream extends Stream {
  readonly events: unknown[] = [];

  override onHeader(name: string, value: string): void {
    this.events.push(`${name}: ${value}`);
  }

  override onHeadersEnd(isLast: boolean): void {
    this.events.push(isLast ? 'last headers' : 'headers');
  }

  override onData({ bytes, start, end }: Bytes): void {
    this.events.push(bytes.toString('latin1', start, end));
  }

  override onEnd(): void {
    this.events.push('end');
  }

  override onReset(code: number): void {
    this.events.push(`reset ${code}`);
  }
}

/** Simulates the server of a connection without a socket. It sends frames to the connection, and records the frames that the connection sends. */
export class FramePeer {
  readonly connection: Connection;
  /** The events that the connection under test has reported to its listener, as text. */
  readonly events: string[] = [];
  /** How often the connection under test has called its option `write`. */
  writes = 0;
  #sent = Buffer.alloc(0);

  constructor({
    window = WINDOW,
    firstId = 1,
    isStarted = true,
  }: { readonly window?: number; readonly firstId?: number; readonly isStarted?: boolean } = {}) {
    this.connection = new Connection(
      {
        write: (bytes) => {
          this.writes += 1;
          this.#sent = Buffer.concat([this.#sent, bytes]);
        },
        window,
        firstId,
      },
      {
        onReady: () => this.events.push('ready'),
        onPong: () => this.events.push('pong'),
        onGoaway: (code) => this.events.push(`goaway ${code}`),
        onViolation: (error) => this.events.push(error.message),
      },
    );
    if (isStarted) this.connection.start();
  }

  /** Creates a simulated server and a connection that have already exchanged settings. `values` are the settings of the server. */
  static async ready(
    values: Readonly<Record<number, number>> = {},
    options: { readonly window?: number; readonly firstId?: number } = {},
  ): Promise<FramePeer> {
    const peer = new FramePeer(options);
    peer.send(frame('SETTINGS', {}, settings(values)), frame('SETTINGS', { flags: 1 }));
    await peer.sent();
    return peer;
  }

  send(...frames: readonly Buffer[]): void {
    const bytes = Buffer.concat(frames);
    this.connection.receive(bytes, bytes.length);
  }

  open(headers: Readonly<Record<string, string>> = { ':method': 'POST' }): RecordedStream {
    const stream = new RecordedStream(headers);
    this.connection.open(stream);
    return stream;
  }

  /** Resolves with the frames that the connection has sent since the last call of this method, including the frames of the current tick. */
  async sent(): Promise<SentFrame[]> {
    await new Promise((resolve) => setImmediate(resolve));
    let rest = this.#sent;
    this.#sent = Buffer.alloc(0);
    if (rest.toString('latin1', 0, PREFACE.length) === PREFACE) rest = rest.subarray(PREFACE.length);
    const frames: SentFrame[] = [];
    while (rest.length > 0) {
      const end = 9 + rest.readUIntBE(0, 3);
      frames.push({
        type: NAMES[rest[3]!] ?? 'UNKNOWN',
        flags: rest[4]!,
        id: rest.readUInt32BE(5),
        payload: rest.subarray(9, end),
      });
      rest = rest.subarray(end);
    }
    return frames;
  }

  /** Resolves with the frames that `sent` returns, each as text: type, stream id, flags, and size of the payload in bytes. */
  async sentAsText(): Promise<string[]> {
    return (await this.sent()).map(
      ({ type, id, flags, payload }) => `${type} ${id} ${flags} ${payload.length}`,
    );
  }
}
