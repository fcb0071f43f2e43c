import { unreadableReply } from '@queuelock/core/backend';
import { isResponse } from './etcd3-replies.ts';
import type { Channel, ChannelListener } from '../driver/driver.ts';
import type { ClientUse, Etcd3Clients } from './etcd3-clients.ts';
import type { BreakerCall, MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

/** The methods of a stream of npm etcd3 that this package uses. */
export interface RawStream<Request, Response> {
  on(event: 'data', listener: (response: Response) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  write(request: Request): unknown;
  end(): unknown;
  cancel(): unknown;
}

/** Options of a stream of npm etcd3: the member, its circuit breaker, and the functions that provide a client and open the stream. */
export interface StreamOptions<Stream> {
  /** The address of the member as `host:port`, for error messages. */
  readonly host: string;
  readonly breaker: MemberCircuitBreaker;
  readonly clients: Pick<Etcd3Clients<unknown>, 'failed'>;
  /** Returns a client of npm etcd3 for the stream, which keeps the client open until it calls `end`. */
  readonly use: () => ClientUse | Promise<ClientUse>;
  readonly open: (etcd: ClientUse['etcd']) => Promise<Stream>;
}

/** A stream over npm etcd3. Its constructor starts to open it. */
export class Etcd3Channel<Request, Response> implements Channel<Request> {
  readonly #stream: Promise<RawStream<Request, Response>>;
  readonly #options: StreamOptions<RawStream<Request, Response>>;
  readonly #listener: ChannelListener<Response>;
  #use: ClientUse | undefined;
  #breakerCall: BreakerCall | undefined;
  #isOver = false;

  constructor(options: StreamOptions<RawStream<Request, Response>>, listener: ChannelListener<Response>) {
    this.#options = options;
    this.#listener = listener;
    this.#stream = this.#open();
    this.#withStream((stream) => this.#listenTo(stream));
  }

  write(request: Request): void {
    this.#withStream((stream) => {
      if (!this.#isOver) stream.write(request);
    });
  }

  close(): void {
    this.#finish((stream) => {
      try {
        stream.end();
      } finally {
        stream.cancel();
      }
    });
  }

  abandon(): void {
    // Cancels the stream without ending it first. So npm etcd3 treats the cancellation as a failure, and opens a new connection for the next stream.
    this.#finish((stream) => stream.cancel());
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#options.clients.failed();
    this.#breakerCall?.failed(error);
    this.abandon();
    this.#listener.onEnd(error);
  }

  async #open(): Promise<RawStream<Request, Response>> {
    // Waits for a microtask, so that the constructor of the channel returns before the listener is called.
    await Promise.resolve();
    const { breaker, use, open } = this.#options;
    this.#breakerCall = breaker.begin();
    this.#use = await use();
    return open(this.#use.etcd);
  }

  #listenTo(stream: RawStream<Request, Response>): void {
    stream.on('error', (error) => this.#end(error));
    stream.on('end', () => this.#end(new Error('the server ended the stream')));
    stream.on('data', (response) => {
      this.#breakerCall?.succeeded();
      if (this.#isOver) return;
      if (isResponse(response)) this.#listener.onResponse(response);
      else this.#end(unreadableReply(`etcd ${this.#options.host}`, 'a request on a stream', response));
    });
  }

  /** Ends the stream, and then releases the client of npm etcd3 that it has used. */
  #finish(end: (stream: RawStream<Request, Response>) => unknown): void {
    this.#breakerCall?.abandoned();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#withStream(end);
    const endUse = (): void => this.#use?.end();
    void this.#stream.then(endUse, endUse);
  }

  /** Passes the stream to the function `task` when the stream is open. Ends the channel if the stream does not open or `task` throws. */
  #withStream(task: (stream: RawStream<Request, Response>) => unknown): void {
    this.#stream.then(task).catch((error: unknown) => this.#end(error));
  }
}
