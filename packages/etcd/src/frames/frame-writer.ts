import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FRAME_HEADER,
  GOAWAY,
  HEADERS,
  MAX_FRAME_SIZE,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './protocol.ts';
import { copyOf } from '../base/copied-bytes.ts';
import type { Bytes } from './frame-reader.ts';

const USUAL_SIZE = 4_096;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const PING_SIZE = 8;
// Maximum time in milliseconds for which a reply to a ping waits for another frame, so that both need one write. etcd sends a ping after most
// requests, to measure the network.
const PONG_DELAY_MS = 5;
const PONG = (PING << 8) | ACK;

/** Converts frames to bytes. Collects the frames of one tick in one buffer, so that they need one write to the socket. */
export class FrameWriter {
  readonly #write: (bytes: Buffer) => void;
  #buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
  #at = 0;
  #isScheduled = false;
  #isPongScheduled = false;
  #canWrite = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param write sends bytes over the socket. It may keep the buffer, which the writer never changes afterwards */
  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
  }

  /** Starts to write: first the collected frames, and then all further frames. Before this call, the writer only collects frames. */
  start(): void {
    this.#canWrite = true;
    this.flush();
  }

  /** Discards all frames from now on, also those that were collected. */
  stop(): void {
    this.#canWrite = false;
    clearTimeout(this.#timer);
  }

  /** Writes the collected frames to the socket now, if the writer has started. */
  flush(): void {
    if (this.#at === 0 || !this.#canWrite) return;
    const bytes = copyOf(this.#buffer, 0, this.#at);
    this.#at = 0;
    // Replaces an unusually large buffer, so that one large request does not occupy memory for long.
    if (this.#buffer.length > USUAL_SIZE) this.#buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
    this.#write(bytes);
  }

  /** Sends the first bytes of a connection (RFC 9113, section 3.4), with the settings as pairs of id and value. */
  preface(settings: readonly (readonly [id: number, value: number])[]): void {
    this.#reserve(PREFACE.length);
    this.#buffer.set(PREFACE, this.#at);
    this.#at += PREFACE.length;
    this.#head(6 * settings.length, SETTINGS << 8, 0);
    for (const [id, value] of settings) {
      this.#buffer[this.#at++] = id >>> 8;
      this.#buffer[this.#at++] = id;
      this.#uint32(value);
    }
  }

  /** Opens a stream. Headers that are larger than a frame continue in further frames. */
  headers(streamId: number, block: Buffer): void {
    if (block.length <= MAX_FRAME_SIZE) {
      this.#head(block.length, (HEADERS << 8) | END_HEADERS, streamId);
      this.#bytes(block, 0, block.length);
      return;
    }
    for (let at = 0; at < block.length; at += MAX_FRAME_SIZE) {
      const end = Math.min(block.length, at + MAX_FRAME_SIZE);
      const flags = end === block.length ? END_HEADERS : 0;
      this.#head(end - at, ((at === 0 ? HEADERS : CONTINUATION) << 8) | flags, streamId);
      this.#bytes(block, at, end);
    }
  }

  /** Sends a part of a buffer, of at most 16 kB, as one DATA frame. */
  data(streamId: number, { bytes, start, end }: Bytes, isLast: boolean): void {
    this.#head(end - start, (DATA << 8) | (isLast ? END_STREAM : 0), streamId);
    this.#bytes(bytes, start, end);
  }

  reset(streamId: number, code: number): void {
    this.#head(4, RST_STREAM << 8, streamId);
    this.#uint32(code);
  }

  settingsAck(): void {
    this.#head(0, (SETTINGS << 8) | ACK, 0);
  }

  ping(payload: Buffer): void {
    this.#head(PING_SIZE, PING << 8, 0);
    this.#bytes(payload, 0, PING_SIZE);
  }

  /** Replies to a ping with the same payload: together with the next frame, or after 5 ms. */
  pong({ bytes, start, end }: Bytes): void {
    this.#head(PING_SIZE, PONG, 0);
    for (let at = start; at < end; at += 1) this.#buffer[this.#at++] = bytes[at] as number;
    if (this.#isPongScheduled) return;
    this.#isPongScheduled = true;
    this.#timer ??= setTimeout(() => this.#flushPongs(), PONG_DELAY_MS).unref();
    this.#timer.refresh();
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#head(4, WINDOW_UPDATE << 8, streamId);
    this.#uint32(increment);
  }

  goaway(code: number): void {
    this.#head(8, GOAWAY << 8, 0);
    // The id of the last stream of the server that this client processed. The server opens no streams, so it is 0.
    this.#uint32(0);
    this.#uint32(code);
  }

  /** Writes the header of a frame. Its `kind` consists of the type and, in the last eight bits, the flags. */
  #head(size: number, kind: number, streamId: number): void {
    this.#reserve(FRAME_HEADER + size);
    const buffer = this.#buffer;
    const at = this.#at;
    buffer[at] = size >>> 16;
    buffer[at + 1] = size >>> 8;
    buffer[at + 2] = size;
    buffer[at + 3] = kind >>> 8;
    buffer[at + 4] = kind;
    buffer[at + 5] = streamId >>> 24;
    buffer[at + 6] = streamId >>> 16;
    buffer[at + 7] = streamId >>> 8;
    buffer[at + 8] = streamId;
    this.#at = at + FRAME_HEADER;
    if (this.#isScheduled || kind === PONG) return;
    this.#isScheduled = true;
    process.nextTick(flushScheduled, this);
  }

  #uint32(value: number): void {
    const buffer = this.#buffer;
    buffer[this.#at++] = value >>> 24;
    buffer[this.#at++] = value >>> 16;
    buffer[this.#at++] = value >>> 8;
    buffer[this.#at++] = value;
  }

  #bytes(bytes: Buffer, start: number, end: number): void {
    // Avoids `subarray` for a whole buffer, since it would create one more object for each small request.
    this.#buffer.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#at);
    this.#at += end - start;
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#at + size));
    larger.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = larger;
  }

  #flushPongs(): void {
    this.#isPongScheduled = false;
    this.flush();
  }

  /** Writes the collected frames at the end of the tick in which the first of them was collected. */
  flushOfTick(): void {
    this.#isScheduled = false;
    this.flush();
  }
}

/** Flushes a writer at the end of a tick. All writers share this function, so that no closure is created for each tick. */
function flushScheduled(writer: FrameWriter): void {
  writer.flushOfTick();
}
