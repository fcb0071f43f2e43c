import type { IEvent, IResponseHeader, IWatchRequest, IWatchResponse } from '../protocol/messages.ts';
import type { Endpoint } from './connection.ts';
import type { Channel } from '../driver/driver.ts';
import { WatchIds } from './watch-ids.ts';
import { includesKey, type Watcher, type WatchTarget } from './watch-target.ts';

/** What a watch stream reports besides news to its watchers. */
export interface WatchStreamListener {
  /** The server gave a watch up. */
  readonly onRefused: (watcher: Watcher, response: IWatchResponse) => void;
  /** Called once, with the first watch that is live: whether the member gives watches the ids that requests propose. */
  readonly onNumbered?: ((takesProposedIds: boolean) => void) | undefined;
  /** Once: the stream is over, and every watch on it. */
  readonly onEnd: (error: unknown) => void;
}

/**
 * One watch stream to one member, from its start to its end. An event reaches a watcher by an id that the server has confirmed for it, and only
 * if the watcher watches the event's key. A stream that delivers any other key is given up.
 */
export class WatchStream {
  readonly endpoint: Endpoint;
  readonly #answerWithinMs: number;
  readonly #channel: Channel<IWatchRequest>;
  readonly #listener: WatchStreamListener;
  readonly #ids = new WatchIds<Watcher>();
  /** The request whose answer is due. */
  #due: object | undefined;
  #overdue: ReturnType<typeof setTimeout> | undefined;
  #silent: ReturnType<typeof setTimeout> | undefined;
  /** Since when a watch on the stream is live. */
  #liveSince: number | undefined;
  #over = false;

  constructor(endpoint: Endpoint, answerWithinMs: number, listener: WatchStreamListener) {
    this.endpoint = endpoint;
    this.#answerWithinMs = answerWithinMs;
    this.#listener = listener;
    this.#channel = endpoint.driver.watch({
      onResponse: (response) => this.#hear(response),
      onEnd: (error) => this.#end(error),
    });
  }

  /** For how long watches have been live on it, in milliseconds. */
  get liveForMs(): number {
    return this.#liveSince === undefined ? 0 : performance.now() - this.#liveSince;
  }

  /** Whether the member gives watches the ids that requests propose, as far as it is known. */
  get takesProposedIds(): boolean {
    return this.#ids.takesProposed;
  }

  /** Tells the watcher when its watch is live, and every event from then on. */
  create(watcher: Watcher): void {
    this.#ids.add(watcher);
    this.#request();
  }

  /** Tells the server and waits for nothing. */
  cancel(watcher: Watcher): void {
    const id = this.#ids.remove(watcher);
    if (id !== undefined) this.#cancelId(id);
  }

  /**
   * Asks the member for a sign of life. A server that numbers watches itself is asked for one watch of that target more: a grpc-proxy
   * leaves requests for progress unanswered.
   */
  probe(target: WatchTarget): void {
    if (this.takesProposedIds) {
      if (this.#silent !== undefined) return;
      this.#channel.write({ progress_request: {} });
      this.#silent = this.#endAfter(this.#answerWithinMs);
    } else if (!this.#ids.oldest) {
      const brief = { target, tell: () => undefined };
      this.create(brief);
      this.cancel(brief);
    }
  }

  /** Ends the stream without a word to the listener. */
  close(): void {
    this.#finish();
    this.#channel.close();
  }

  /** Ends the stream, and reports that as a failure. */
  giveUp(reason: string): void {
    this.#end(new Error(reason));
  }

  /** Sends the requests that may go out now. The stream counts as dead unless the oldest request without an answer is answered in time. */
  #request(): void {
    if (this.#over) return;
    for (const { owner, id } of this.#ids.take())
      this.#channel.write({
        create_request: { ...owner.target, ...(id === undefined ? {} : { watch_id: id }) },
      });
    if (this.#ids.oldest === this.#due) return;
    this.#due = this.#ids.oldest;
    clearTimeout(this.#overdue);
    // Twice the usual time: the member may have to be connected to, and logged in at, first.
    if (this.#due) this.#overdue = this.#endAfter(2 * this.#answerWithinMs);
  }

  #endAfter(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.giveUp(`no answer on the watch stream within ${ms} ms`), ms);
  }

  #cancelId(id: string): void {
    this.#channel.write({ cancel_request: { watch_id: id } });
  }

  #hear(response: IWatchResponse): void {
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
      this.giveUp(`the server confirmed watch ${response.watch_id}, which was not requested`);
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
      owner.tell({ status: 'live', revision: revisionOf(response) });
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
    // It was canceled, and what comes now was on its way.
    if (!watcher) return;
    const stray = events.find(({ kv }) => !includesKey(watcher.target, kv.key));
    if (stray) this.giveUp(describeStray(stray, watcher));
    else watcher.tell({ status: 'events', events });
  }

  #end(error: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#channel.abandon();
    this.#listener.onEnd(error);
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#silent);
    clearTimeout(this.#overdue);
  }
}

/** A proxy may leave the header out. */
function revisionOf({ header }: { readonly header?: IResponseHeader | null }): string | undefined {
  return header?.revision;
}

function describeStray({ kv }: IEvent, { target }: Watcher): string {
  const [sent, watched] = [kv.key, target.key].map((key) => JSON.stringify(key?.toString() ?? ''));
  return `the server sent an event of the key ${sent} to a watch of ${watched}`;
}
