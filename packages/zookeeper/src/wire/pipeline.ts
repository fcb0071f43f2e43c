import { ZkCode } from '../driver/errors.ts';
import { getEvent, type WatchEvent } from './events.ts';
import { JuteReader, type Get } from './jute-read.ts';
import { Xid } from './op-code.ts';
import { getReplyHeader, type ReplyHeader } from './records.ts';
import { numbered, type WireRequest } from './request.ts';
import { WireError } from './wire-error.ts';

/** Handles the reply to a request: a result code of ZooKeeper and, with code 0, the result. */
export type Settle<T> = (code: number, value?: T) => void;

/**
 * The kind of a message from the server. `answer` is the reply to a request; the handler of the request has
 * already been called.
 */
export type ReceivedFrame =
  | { readonly type: 'answer' | 'pong' | 'watches' }
  | { readonly type: 'event'; readonly event: WatchEvent | undefined }
  | { readonly type: 'auth'; readonly code: number };

interface Asked {
  readonly xid: number;
  /** Parses the content of the reply. Not called if the reply is an error. */
  readonly answer: Get<unknown>;
  readonly settle: Settle<unknown>;
}

const LAST_XID = 2 ** 31 - 1;
// When this many requests at the front of the list of requests have a reply, they are removed from the list.
const MAX_SPENT = 1_000;

/**
 * The requests of one connection that have no reply yet. Requests are numbered, and the server replies in
 * order. This class has no socket: it returns bytes to send, and takes the messages that were received.
 */
export class Pipeline {
  readonly #requested: Asked[] = [];
  #first = 0;
  #xid: number;
  #lastZxid: bigint;

  /**
   * @param lastZxid the id of the last transaction that the session has seen
   * @param lastXid the number of the last request
   */
  constructor(lastZxid: bigint, lastXid = 0) {
    this.#lastZxid = lastZxid;
    this.#xid = lastXid;
  }

  /** The id of the last transaction whose effects a reply has shown. */
  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  /** The number of unanswered requests. */
  get size(): number {
    return this.#requested.length - this.#first;
  }

  /** Adds a request and returns the bytes to send. */
  ask<T>(request: WireRequest<T>, settle: Settle<T>): Buffer {
    this.#xid = this.#xid === LAST_XID ? 1 : this.#xid + 1;
    this.#requested.push({ xid: this.#xid, answer: request.answer, settle: settle as Settle<unknown> });
    return numbered(request, this.#xid);
  }

  /**
   * Handles a received frame.
   * @throws {WireError} for a frame that no server would send; the connection is unusable then
   */
  receive(frame: Buffer): ReceivedFrame {
    const reader = new JuteReader(frame);
    const header = getReplyHeader(reader);
    switch (header.xid) {
      case Xid.event:
        return { type: 'event', event: getEvent(reader) };
      case Xid.ping:
        return { type: 'pong' };
      case Xid.auth:
        return { type: 'auth', code: header.err };
      case Xid.setWatches:
        return { type: 'watches' };
      default:
        this.#respond(header, reader);
        return { type: 'answer' };
    }
  }

  /** Settles all requests without a reply with the result code `code`. */
  fail(code: number): void {
    for (let requested = this.#shift(); requested; requested = this.#shift()) requested.settle(code);
  }

  #respond({ xid, zxid, err }: ReplyHeader, reader: JuteReader): void {
    const expected = this.#requested[this.#first];
    if (expected?.xid !== xid) {
      throw new WireError(`a reply to request ${xid} where one to ${expected?.xid ?? 'none'} was expected`);
    }
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
    // If the reply cannot be parsed, the request stays in the list of requests, and fails when the connection
    // ends.
    if (err !== ZkCode.ok) {
      this.#shift();
      expected.settle(err);
      return;
    }
    const value = expected.answer(reader);
    this.#shift();
    expected.settle(err, value);
  }

  #shift(): Asked | undefined {
    const requested = this.#requested[this.#first];
    if (!requested) return undefined;
    this.#first += 1;
    if (this.#first === this.#requested.length || this.#first === MAX_SPENT) {
      this.#requested.splice(0, this.#first);
      this.#first = 0;
    }
    return requested;
  }
}
