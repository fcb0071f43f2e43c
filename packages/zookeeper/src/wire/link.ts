import type { Socket } from 'node:net';
import type { Clock } from '@queuelock/core/backend';
import { afterQuietLoop } from '../base/quiet-loop.ts';
import { dial as dialTheNetwork, placeOf, type Dial } from './dial.ts';
import type { WatchEvent } from './events.ts';
import { FrameReader } from './frames.ts';
import { helloFrame, welcomeOf, type Hello, type Welcome } from './handshake.ts';
import { Xid } from './op-code.ts';
import { Pipeline, type Settle } from './pipeline.ts';
import { needOf, type Traffic } from './pulse.ts';
import { numbered, type WireRequest } from './request.ts';
import { ping } from './session-requests.ts';
import type { Tls } from '../api/tls.ts';
import { WireError } from './wire-error.ts';

/** How a connection is made. */
export interface LinkOptions {
  /** As `addressText` writes it. */
  readonly address: string;
  /** Default: over the network. */
  readonly dial?: Dial | undefined;
  readonly tls: Tls | undefined;
  readonly hello: Hello;
  /** For the connection and the first answer on it. */
  readonly withinMs: number;
  readonly clock: Clock;
}

/** Who hears of a connection; nothing after `lost`. */
export interface LinkListener {
  /** The server's first answer. */
  welcomed(welcome: Welcome): void;
  changed(event: WatchEvent): void;
  /** Credentials were not taken. */
  refused(code: number): void;
  /** It is over: the socket is gone. What is not answered yet fails right after this. */
  lost(failure: Error): void;
}

// Longer than any list of children that a server can hold; its requests are limited to a megabyte, its answers are not.
const MAX_FRAME_BYTES = 256 * 2 ** 20;
// `ZCONNECTIONLOSS`
const CONNECTION_LOSS = -4;

/** One connection to one server, from the dial to its end. */
export class WireLink {
  /** Resolves when nothing is left of the socket. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #listener: LinkListener;
  readonly #frames = new FrameReader(MAX_FRAME_BYTES);
  readonly #pipeline: Pipeline;
  readonly #traffic: { -readonly [when in keyof Traffic]: Traffic[when] };
  #welcome: Welcome | undefined;
  #isOver = false;
  #isReading = false;
  /** For the first answer, and then for what the connection needs next. */
  #cancel: () => void;

  constructor(
    { address, dial = dialTheNetwork, tls, hello, withinMs, clock }: LinkOptions,
    listener: LinkListener,
  ) {
    this.#clock = clock;
    this.#listener = listener;
    this.#pipeline = new Pipeline(hello.lastZxid);
    this.#traffic = { heardAt: clock.now(), sentAt: clock.now() };
    const { socket, ready } = dial(placeOf(address), tls);
    this.#socket = socket;
    this.#cancel = afterQuietLoop(withinMs, () =>
      this.destroy(new WireError(`no answer from ${address} within ${withinMs} ms`)),
    );
    socket.once(ready, () => this.#write(helloFrame(hello)));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error: Error) => this.destroy(error));
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.once('close', () => this.destroy(new WireError(`${address} closed the connection`)));
  }

  /** Of the last transaction that an answer has shown the effects of. */
  get lastZxid(): bigint {
    return this.#pipeline.lastZxid;
  }

  /** Sends; what is sent in one go shares packets. Settles with connection loss (-4) when the connection ends first. */
  ask<T>(request: WireRequest<T>, settle: Settle<T>): void {
    this.#write(this.#pipeline.ask(request, settle));
  }

  /** Sends what has a number of its own and no answer that anybody waits for. */
  tell(request: WireRequest<undefined>, xid: number): void {
    this.#write(numbered(request, xid));
  }

  /** Ends it at once; what was sent before has been handed to the system. */
  destroy(failure: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    while (this.#socket.writableCorked > 0) this.#socket.uncork();
    this.#socket.destroy();
    this.#listener.lost(failure);
    this.#pipeline.fail(CONNECTION_LOSS);
  }

  #write(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(bytes);
    this.#traffic.sentAt = this.#clock.now();
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#traffic.heardAt = this.#clock.now();
    this.#frames.push(chunk);
    if (!this.#isReading) this.#take();
  }

  /** Each message has its turn: who awaited an answer goes on before the next message is looked at, as if it came later. */
  #take(): void {
    this.#isReading = false;
    try {
      const frame = this.#isOver ? undefined : this.#frames.next();
      if (!frame) return;
      this.#isReading = true;
      this.#hear(frame);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new WireError(String(error)));
      return;
    }
    queueMicrotask(() => process.nextTick(() => this.#take()));
  }

  #hear(frame: Buffer): void {
    if (!this.#welcome) {
      this.#welcome = welcomeOf(frame);
      this.#cancel();
      this.#listener.welcomed(this.#welcome);
      this.#tend(this.#welcome.timeoutMs);
      return;
    }
    const heard = this.#pipeline.hear(frame);
    if (heard.type === 'event' && heard.event) this.#listener.changed(heard.event);
    if (heard.type === 'auth' && heard.code !== 0) this.#listener.refused(heard.code);
  }

  /** Keeps the connection alive as long as it answers. */
  #tend(timeoutMs: number): void {
    if (this.#isOver) return;
    const need = needOf(this.#traffic, this.#clock.now(), timeoutMs);
    if (need.type === 'end') {
      this.destroy(new WireError(`nothing was heard for two thirds of ${timeoutMs} ms`));
      return;
    }
    if (need.type === 'ping') this.tell(ping(), Xid.ping);
    this.#cancel = afterQuietLoop(need.type === 'wait' ? need.ms : 0, () => this.#tend(timeoutMs));
  }
}
