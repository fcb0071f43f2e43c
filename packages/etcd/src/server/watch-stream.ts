import type { IWatchRequest, IWatchResponse } from 'etcd3';
import type { Endpoint } from './connection.ts';
import type { Channel, ChannelListener } from '../driver/driver.ts';

/** One watch stream to one member, from its start to its end, which is that of every watch on it. */
export class WatchStream {
  readonly endpoint: Endpoint;
  readonly #channel: Channel<IWatchRequest>;
  readonly #listener: ChannelListener<IWatchResponse>;
  #late: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(endpoint: Endpoint, listener: ChannelListener<IWatchResponse>) {
    this.endpoint = endpoint;
    this.#listener = listener;
    this.#channel = endpoint.driver.watch({
      onResponse: (response) => this.#hear(response),
      onEnd: (error) => this.#end(error),
    });
  }

  write(request: IWatchRequest): void {
    this.#channel.write(request);
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
    this.#channel.close();
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
    this.#channel.abandon();
    this.#listener.onEnd(error);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#late);
  }
}
