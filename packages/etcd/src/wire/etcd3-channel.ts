import type { Channel, ChannelListener } from '../driver/driver.ts';
import type { BreakerCall, MemberCircuitBreaker } from '../driver/member-circuit-breaker.ts';

/** What etcd3 gives as a stream. */
export interface RawStream<Request, Response> {
  on(event: 'data', listener: (response: Response) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  write(request: Request): unknown;
  end(): unknown;
  cancel(): unknown;
}

/** A stream of etcd3, which opens some time after it was asked for. */
export class Etcd3Channel<Request, Response> implements Channel<Request> {
  readonly #stream: Promise<RawStream<Request, Response>>;
  readonly #listener: ChannelListener<Response>;
  #passage: BreakerCall | undefined;
  #isOver = false;

  constructor(
    way: MemberCircuitBreaker,
    open: () => Promise<RawStream<Request, Response>>,
    listener: ChannelListener<Response>,
  ) {
    this.#stream = this.#open(way, open);
    this.#listener = listener;
    this.#stream.then(
      (opened) => {
        opened.on('error', (error) => this.#end(error));
        opened.on('end', () => this.#end(new Error('the server ended the stream')));
        opened.on('data', (response) => {
          this.#passage?.succeeded();
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
    this.#isOver = true;
    this.#passage?.abandoned();
    this.#withStream((stream) => {
      stream.end();
      stream.cancel();
    });
  }

  abandon(): void {
    this.#isOver = true;
    this.#passage?.abandoned();
    // Not ended first: etcd3 then takes the cancellation for a failure and connects anew for the next stream.
    this.#withStream((stream) => stream.cancel());
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#passage?.failed(error);
    this.abandon();
    this.#listener.onEnd(error);
  }

  async #open(
    way: MemberCircuitBreaker,
    open: () => Promise<RawStream<Request, Response>>,
  ): Promise<RawStream<Request, Response>> {
    // Nobody is told of an end before the channel is known.
    await Promise.resolve();
    this.#passage = way.begin();
    return open();
  }

  /** A failure to open is told to the listener. */
  #withStream(task: (stream: RawStream<Request, Response>) => unknown): void {
    void this.#stream.then(task, () => undefined);
  }
}
