import type { IEvent, IResponseHeader, IWatchRequest, IWatchResponse } from '../protocol/messages.ts';
import type { Endpoint } from './connection.ts';
import type { Channel } from '../driver/driver.ts';
import { WatchIds } from './watch-ids.ts';
import { includesKey, type Watcher, type WatchTarget } from './watch-target.ts';

// Maximum time in milliseconds for which the cancellation of a watch waits for others, so that all of them need one write. A process that hands a lock
// over cancels two watches at each hand-off, and the next holder does not depend on them.
const CANCEL_DELAY_MS = 10;

/** Receives what happens to a watch stream: canceled watches, its first live watch and its end. */
export interface WatchStreamListener {
  /** Called when the server has canceled a watch. */
  readonly onRefused: (watcher: Watcher, response: IWatchResponse) => void;
  /** Called once, when the server confirms the first watch, with whether the member accepts the ids that requests propose. */
  readonly onNumbered?: ((takesProposedIds: boolean) => void) | undefined;
  /** Called once, when the stream and all of its watches have ended. */
  readonly onEnd: (error: unknown) => void;
}

/**
 * One watch stream to one member, from its start to its end. An event reaches a watcher only by an id that the server has confirmed, and only if the
 * watcher watches the event's key. Otherwise the stream ends as a failure.
 */
export class WatchStream {
  readonly endpoint: Endpoint;
  readonly #responseTimeoutMs: number;
  readonly #channel: Channel<IWatchRequest>;
  readonly #listener: WatchStreamListener;
  readonly #ids = new WatchIds<Watcher>();
  /** An object that identifies the oldest watch request without a response. */
  #due: object | undefined;
  #overdue: ReturnType<typeof setTimeout> | undefined;
  #silent: ReturnType<typeof setTimeout> | undefined;
  /** The ids of the watches whose cancellation is not sent yet. */
  #unsentCancels: string[] = [];
  #cancelling: NodeJS.Timeout | undefined;
  /** The time at which the server confirmed the first watch of this stream. */
  #liveSince: number | undefined;
  #over = false;

  constructor(endpoint: Endpoint, responseTimeoutMs: number, listener: WatchStreamListener) {
    this.endpoint = endpoint;
    this.#responseTimeoutMs = responseTimeoutMs;
    this.#listener = listener;
    this.#channel = endpoint.driver.watch({
      onResponse: (response) => this.#receive(response),
      onEnd: (error) => this.#end(error),
    });
  }

  /** How long the stream has had confirmed watches, in milliseconds. */
  get liveForMs(): number {
    return this.#liveSince === undefined ? 0 : performance.now() - this.#liveSince;
  }

  /** Whether the member accepts the ids that requests propose; `false` until that is known. */
  get takesProposedIds(): boolean {
    return this.#ids.takesProposed;
  }

  /** Creates a watch. Notifies the watcher when the server has confirmed it, and then of every event. */
  create(watcher: Watcher): void {
    this.#ids.add(watcher);
    this.#request();
  }

  /** Removes the watch of a watcher, which gets no further notification. The cancellation is sent within 10 ms, and its response is not awaited. */
  cancel(watcher: Watcher): void {
    const id = this.#ids.remove(watcher);
    if (id !== undefined) this.#cancelId(id);
  }

  /**
   * Requests a response from the member, and ends the stream as a failure if none arrives within the response timeout. A server that numbers watches
   * itself may be a grpc-proxy, which ignores requests for the progress of watches. So such a server gets a request for one more watch, which is
   * canceled at once.
   */
  probe(target: WatchTarget): void {
    if (this.takesProposedIds) {
      if (this.#silent !== undefined) return;
      this.#channel.write({ progress_request: {} });
      this.#silent = this.#endAfter(this.#responseTimeoutMs);
    } else if (!this.#ids.oldest) {
      const brief = { target, notify: () => undefined };
      this.create(brief);
      this.cancel(brief);
    }
  }

  /** Ends the stream without notifying its listener. */
  close(): void {
    this.#finish();
    this.#channel.close();
  }

  /** Ends the stream as a failure with the given reason. */
  fail(reason: string): void {
    this.#end(new Error(reason));
  }

  /**
   * Sends the watch requests that `WatchIds` allows now. The stream ends as a failure if the oldest request gets no response within twice the
   * response timeout.
   */
  #request(): void {
    if (this.#over) return;
    for (const { owner, id } of this.#ids.take())
      this.#channel.write({
        create_request: { ...owner.target, ...(id === undefined ? {} : { watch_id: id }) },
      });
    if (this.#ids.oldest === this.#due) return;
    this.#due = this.#ids.oldest;
    clearTimeout(this.#overdue);
    // The first response may take twice the response timeout, since the client may have to connect and log in first.
    if (this.#due) this.#overdue = this.#endAfter(2 * this.#responseTimeoutMs);
  }

  #endAfter(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.fail(`no response on the watch stream within ${ms} ms`), ms);
  }

  #cancelId(id: string): void {
    if (this.#unsentCancels.push(id) === 1)
      this.#cancelling = setTimeout(() => this.#sendCancels(), CANCEL_DELAY_MS).unref();
  }

  #sendCancels(): void {
    for (const id of this.#unsentCancels) this.#channel.write({ cancel_request: { watch_id: id } });
    this.#unsentCancels = [];
  }

  #receive(response: IWatchResponse): void {
    if (this.#over) return;
    clearTimeout(this.#silent);
    this.#silent = undefined;
    if (response.created) this.#confirm(response);
    else if (response.canceled) this.#canceled(response);
    else if (response.events.length > 0) this.#deliver(response);
  }

  #confirm(response: IWatchResponse): void {
    const confirmed = this.#ids.confirm(response);
    if (!confirmed) {
      this.fail(`the server confirmed watch ${response.watch_id}, which was not requested`);
      return;
    }
    this.#request();
    const { owner, id } = confirmed;
    if (!owner) {
      if (!response.canceled) this.#cancelId(id);
    } else if (response.canceled) this.#listener.onRefused(owner, response);
    else {
      if (this.#liveSince === undefined) this.#listener.onNumbered?.(this.takesProposedIds);
      this.#liveSince ??= performance.now();
      owner.notify({ status: 'live', revision: revisionOf(response) });
    }
  }

  #canceled(response: IWatchResponse): void {
    const watcher = this.#ids.ownerOf(response.watch_id);
    if (!watcher) return;
    this.#ids.remove(watcher);
    this.#listener.onRefused(watcher, response);
  }

  #deliver({ watch_id: id, events }: IWatchResponse): void {
    const watcher = this.#ids.ownerOf(id);
    // Ignores the event of a watch that the client canceled while the event was in flight.
    if (!watcher) return;
    const stray = events.find(({ kv }) => !includesKey(watcher.target, kv.key));
    if (stray) this.fail(describeStray(stray, watcher));
    else watcher.notify({ status: 'events', events });
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#channel.abandon();
    this.#listener.onEnd(error);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#cancelling);
    clearTimeout(this.#silent);
    clearTimeout(this.#overdue);
  }
}

/** Returns the store's revision from the header of a response. A proxy may omit the header. */
function revisionOf({ header }: { readonly header?: IResponseHeader | null }): string | undefined {
  return header?.revision;
}

function describeStray({ kv }: IEvent, { target }: Watcher): string {
  const [sent, watched] = [kv.key, target.key].map((key) => JSON.stringify(key?.toString() ?? ''));
  return `the server sent an event of the key ${sent} to a watch of ${watched}`;
}
