import { ConnectionError, MAX_31_BITS, STREAMS_BEFORE_SETTINGS } from './protocol.ts';
import type { Stream } from './stream.ts';

/** The open streams of a connection, and the streams that wait until the peer permits them. */
export class Streams {
  readonly #open: (stream: Stream) => void;
  readonly #byId = new Map<number, Stream>();
  readonly #waiting = new Set<Stream>();
  #limit = 0;
  #nextId: number;

  /** @param open sends the headers of a stream that has just got its id */
  constructor(open: (stream: Stream) => void, firstId: number) {
    this.#open = open;
    this.#nextId = firstId;
  }

  /** Whether the connection can have no further stream, because all ids are used. */
  get isExhausted(): boolean {
    return this.#nextId + 2 * this.#waiting.size > MAX_31_BITS;
  }

  /** The number of streams of the connection that are open or wait to be opened. */
  get size(): number {
    return this.#byId.size + this.#waiting.size;
  }

  get open(): Iterable<Stream> {
    return this.#byId.values();
  }

  /** Permits streams to be opened. Until this call, all added streams wait. */
  start(): void {
    this.limit(STREAMS_BEFORE_SETTINGS);
  }

  /** Changes how many streams may be open at a time. Open streams stay open even above the limit. */
  limit(streams: number): void {
    this.#limit = streams;
    this.#openWaiting();
  }

  add(stream: Stream): void {
    stream.isOpen = true;
    if (this.#byId.size < this.#limit) this.#openNow(stream);
    else this.#waiting.add(stream);
  }

  /** Removes a stream that has ended, and opens a waiting stream in its place. */
  remove(stream: Stream): void {
    stream.isOpen = false;
    if (stream.id === 0) this.#waiting.delete(stream);
    else this.#byId.delete(stream.id);
    if (this.#waiting.size > 0) this.#openWaiting();
  }

  /**
   * Returns the stream with the id that a frame contains, or `undefined` if the stream has ended.
   * @throws {ConnectionError} if no stream with this id was ever opened
   */
  find(id: number): Stream | undefined {
    const stream = this.#byId.get(id);
    if (stream === undefined && (id % 2 === 0 || id >= this.#nextId))
      throw new ConnectionError('PROTOCOL_ERROR', `a frame of the stream ${id}, which was never opened`);
    return stream;
  }

  /** Removes and returns the streams that the peer will not process: open streams with an id above `lastId`, and all waiting streams. */
  takeAbove(lastId: number): Stream[] {
    this.#limit = 0;
    const refused = [...this.#byId.values()].filter(({ id }) => id > lastId);
    for (const stream of this.#waiting) refused.push(stream);
    this.#waiting.clear();
    for (const stream of refused) this.remove(stream);
    return refused;
  }

  #openNow(stream: Stream): void {
    stream.id = this.#nextId;
    this.#nextId += 2;
    this.#byId.set(stream.id, stream);
    this.#open(stream);
  }

  #openWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#byId.size >= this.#limit) return;
      this.#waiting.delete(stream);
      this.#openNow(stream);
    }
  }
}
