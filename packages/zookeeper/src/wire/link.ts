import type { Socket } from 'node:net';
import type { Clock } from '@queuelock/core/backend';
import { setTimeoutAfterIo } from '../base/timeout-after-io.ts';
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

/** Options of a connection. */
export interface LinkOptions {
  /** The address as `addressText` formats it. */
  readonly address: string;
  /** Opens the socket. Default: over the network. */
  readonly dial?: Dial | undefined;
  readonly tls: Tls | undefined;
  readonly hello: Hello;
  /** The timeout for connecting and the first reply, in milliseconds. */
  readonly withinMs: number;
  readonly clock: Clock;
}

/** Receives the events of a connection. `lost` is the last one. */
export interface LinkListener {
  /** Called when the server has sent its first message. */
  welcomed(welcome: Welcome): void;
  changed(event: WatchEvent): void;
  /** Called when the server has refused the credentials. */
  refused(code: number): void;
  /** Called when the socket is closed. Requests without a reply fail right after this. */
  lost(failure: Error): void;
}

// The maximum size of a reply. It is larger than any list of children, since servers limit requests to a
// megabyte, but not replies.
const MAX_FRAME_BYTES = 256 * 2 ** 20;
// The result code `ZCONNECTIONLOSS` of requests that got no reply.
const CONNECTION_LOSS = -4;
const SETTLED = Promise.resolve();

/** One connection to one server, from dialling to its end. */
export class WireLink {
  /** Resolves when the socket is closed. */
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
  /** The requests of this tick of the event loop, which are sent in one packet. */
  #unsent: Buffer[] = [];
  /** Cancels the running timer: at first the timeout for the first reply, then the timer for the next ping. */
  #cancel: () => void;

  constructor(
    { address, dial = dialTheNetwork, tls, hello, withinMs, clock }: LinkOptions,
    listener: LinkListener,
  ) {
    this.#clock = clock;
    this.#listener = listener;
    this.#pipeline = new Pipeline(hello.lastZxid);
    this.#traffic = { receivedAt: clock.now(), sentAt: clock.now() };
    const { socket, ready } = dial(placeOf(address), tls);
    this.#socket = socket;
    this.#cancel = setTimeoutAfterIo(withinMs, () =>
      this.destroy(new WireError(`no response from ${address} within ${withinMs} ms`)),
    );
    socket.once(ready, () => this.#write(helloFrame(hello)));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error: Error) => this.destroy(error));
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.once('close', () => this.destroy(new WireError(`${address} closed the connection`)));
  }

  /** The id of the last transaction whose effects a reply has shown. */
  get lastZxid(): bigint {
    return this.#pipeline.lastZxid;
  }

  /**
   * Sends a request. Requests of one tick of the event loop share packets. Settles with connection loss (-4)
   * if the connection ends first.
   */
  ask<T>(request: WireRequest<T>, settle: Settle<T>): void {
    this.#write(this.#pipeline.ask(request, settle));
  }

  /** Sends a message that has a fixed number, such as a ping, without a handler for its reply. */
  tell(request: WireRequest<undefined>, xid: number): void {
    this.#write(numbered(request, xid));
  }

  /** Ends the connection at once. The operating system still sends earlier requests. */
  destroy(failure: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    this.#flush();
    this.#socket.destroy();
    this.#listener.lost(failure);
    this.#pipeline.fail(CONNECTION_LOSS);
  }

  #write(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#unsent.push(bytes);
    if (this.#unsent.length > 1) return;
    this.#traffic.sentAt = this.#clock.now();
    process.nextTick(() => this.#flush());
  }

  /** Writes all requests of this tick in one write, since each write costs a pass through Node's streams. */
  #flush(): void {
    const [first, ...others] = this.#unsent;
    if (!first) return;
    this.#unsent = [];
    this.#socket.write(others.length > 0 ? Buffer.concat([first, ...others]) : first);
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#traffic.receivedAt = this.#clock.now();
    this.#frames.push(chunk);
    if (!this.#isReading) this.#take();
  }

  /**
   * Handles one message in each turn of the event loop. So code that awaits a reply runs before the next message is handled, even if both
   * have arrived together.
   */
  #take(): void {
    this.#isReading = false;
    try {
      const frame = this.#isOver ? undefined : this.#frames.next();
      if (!frame) return;
      this.#isReading = true;
      this.#receive(frame);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new WireError(String(error)));
      return;
    }
    // A resolved promise is faster than `queueMicrotask`, which creates an `AsyncResource`.
    void SETTLED.then(() => this.#readOn());
  }

  /** Schedules the next message if received bytes are left. Otherwise stops, until the next bytes arrive. */
  #readOn(): void {
    if (this.#frames.held > 0) process.nextTick(() => this.#take());
    else this.#isReading = false;
  }

  #receive(frame: Buffer): void {
    if (!this.#welcome) {
      this.#welcome = welcomeOf(frame);
      this.#cancel();
      this.#listener.welcomed(this.#welcome);
      this.#tend(this.#welcome.timeoutMs);
      return;
    }
    const received = this.#pipeline.receive(frame);
    if (received.type === 'event' && received.event) this.#listener.changed(received.event);
    if (received.type === 'auth' && received.code !== 0) this.#listener.refused(received.code);
  }

  /** Sends pings while the server responds, and closes the connection when it does not. */
  #tend(timeoutMs: number): void {
    if (this.#isOver) return;
    const need = needOf(this.#traffic, this.#clock.now(), timeoutMs);
    if (need.type === 'end') {
      this.destroy(new WireError(`nothing was received for two thirds of ${timeoutMs} ms`));
      return;
    }
    if (need.type === 'ping') this.tell(ping(), Xid.ping);
    this.#cancel = setTimeoutAfterIo(need.type === 'wait' ? need.ms : 0, () => this.#tend(timeoutMs));
  }
}
