import type { IWatchRequest, IWatchResponse, WatchClient } from 'etcd3';
import type { Endpoint } from './connection.ts';

type Stream = Awaited<ReturnType<WatchClient['watch']>>;

/** Who listens to a stream; called with nothing after `onEnd`. */
export interface WatchListener {
  readonly onResponse: (response: IWatchResponse) => void;
  /** Once: the stream is over and every watch on it. */
  readonly onEnd: (error: unknown) => void;
}

/** One raw watch stream to one member, from its start to its end. Writes go out in order, also those made while it opens. */
export class WatchStream {
  readonly endpoint: Endpoint;
  readonly #stream: Promise<Stream>;
  readonly #listener: WatchListener;
  #late: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(endpoint: Endpoint, listener: WatchListener) {
    this.endpoint = endpoint;
    this.#listener = listener;
    this.#stream = endpoint.etcd.watchClient.watch();
    this.#stream.then(
      (stream) => {
        stream.on('error', (error) => this.#end(error));
        stream.on('end', () => this.#end(new Error('the server ended the watch stream')));
        stream.on('data', (response) => this.#hear(response));
      },
      (error: unknown) => this.#end(error),
    );
  }

  write(request: IWatchRequest): void {
    void this.#stream.then((stream) => {
      if (!this.#over) stream.write(request);
    }, ignore);
  }

  /** The stream counts as dead unless something arrives in time. */
  expectAnswer(withinMs: number): void {
    if (this.#over) return;
    this.#late ??= setTimeout(() => {
      this.#end(new Error(`no answer on the watch stream within ${withinMs} ms`));
    }, withinMs);
  }

  /** Asks the member for a sign of life. */
  probe(withinMs: number): void {
    if (this.#late !== undefined) return;
    this.write({ progress_request: {} });
    this.expectAnswer(withinMs);
  }

  /** Ends the stream without a word to the listener. */
  close(): void {
    this.#finish();
    void this.#stream.then((stream) => {
      stream.end();
      stream.cancel();
    }, ignore);
  }

  #hear(response: IWatchResponse): void {
    if (this.#over) return;
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#listener.onResponse(response);
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    // Not ended first: etcd3 then takes the cancellation for a failure and connects anew for the next stream.
    void this.#stream.then((stream) => stream.cancel(), ignore);
    this.#listener.onEnd(error);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#late);
  }
}

/** The failure itself is handled where the stream was opened. */
function ignore(): void {}
