import type { Channel, ChannelListener } from '../driver/driver.ts';
import type { ClientUse, Etcd3Clients } from './etcd3-clients.ts';
import type { BreakerCall, MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

/** A stream of npm etcd3. */
export interface RawStream<Request, Response> {
  on(event: 'data', listener: (response: Response) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  write(request: Request): unknown;
  end(): unknown;
  cancel(): unknown;
}

/** How a stream is opened. */
export interface StreamOptions<Stream> {
  readonly breaker: MemberCircuitBreaker;
  readonly clients: Pick<Etcd3Clients<unknown>, 'failed'>;
  /** Begins to use a client. */
  readonly use: () => ClientUse | Promise<ClientUse>;
  readonly open: (etcd: ClientUse['etcd']) => Promise<Stream>;
}

/** A stream of npm etcd3. It opens asynchronously. */
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
    this.#stream.then(
      (opened) => {
        opened.on('error', (error) => this.#end(error));
        opened.on('end', () => this.#end(new Error('the server ended the stream')));
        opened.on('data', (response) => {
          this.#breakerCall?.succeeded();
          if (!this.#isOver) listener.onResponse(response);
        });
      },
      (error: unknown) => this.#end(error),
    );
  }

  write(request: Request): void {
    this.#withStream((stream) => {
      if (!this.#isOver) stream.write(request);
    });
  }

  close(): void {
    this.#finish((stream) => {
      stream.end();
      stream.cancel();
    });
  }

  abandon(): void {
    // The stream is cancelled without being ended first. So etcd3 treats the cancellation as a failure and connects again for the next stream.
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
    // The constructor must return before the listener is called.
    await Promise.resolve();
    const { breaker, use, open } = this.#options;
    this.#breakerCall = breaker.begin();
    this.#use = await use();
    return open(this.#use.etcd);
  }

  /** Ends the stream, and then the use of its client. */
  #finish(end: (stream: RawStream<Request, Response>) => unknown): void {
    this.#breakerCall?.abandoned();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#withStream(end);
    const endUse = (): void => this.#use?.end();
    void this.#stream.then(endUse, endUse);
  }

  /** Runs the task with the opened stream. A failure to open is ignored here, since the listener receives it. */
  #withStream(task: (stream: RawStream<Request, Response>) => unknown): void {
    void this.#stream.then(task, () => undefined);
  }
}
