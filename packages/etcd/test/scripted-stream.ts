import type { IEvent, IWatchRequest, IWatchResponse } from '../src/protocol/messages.ts';
import type { Channel, ChannelListener, Driver } from '../src/driver/driver.ts';

/** Fake watch streams of an etcd member. The test scripts what the member sends. */
export class ScriptedStreams {
  /** The requests that the client has written, by stream. */
  readonly written: IWatchRequest[][] = [];
  readonly driver: Driver;
  readonly #listeners: ChannelListener<IWatchResponse>[] = [];

  constructor() {
    const watch = (listener: ChannelListener<IWatchResponse>): Channel<IWatchRequest> => {
      const written: IWatchRequest[] = [];
      this.written.push(written);
      this.#listeners.push(listener);
      return { write: (request) => void written.push(request), close: ignore, abandon: ignore };
    };
    this.driver = { watch, close: ignore } as unknown as Driver;
  }

  /** The keys of the watches that the client has requested on the newest stream, in order. */
  get requested(): readonly string[] {
    return this.#newest.flatMap(({ create_request }) => create_request?.key?.toString() ?? []);
  }

  /** The ids that the client has proposed for its watches on the newest stream, in order. */
  get proposed(): readonly (string | undefined)[] {
    return this.#newest.flatMap(({ create_request }) =>
      create_request ? [create_request.watch_id] : [],
    ) as string[];
  }

  /** The ids of the watches that the client has canceled on the newest stream. */
  get canceled(): readonly string[] {
    return this.#newest.flatMap(({ cancel_request }) => String(cancel_request?.watch_id ?? '') || []);
  }

  confirm(watch_id: string): void {
    this.answer({ watch_id, created: true });
  }

  /** Sends the refusal of a watch request, without the id of the watch. */
  refuse(): void {
    this.answer({ watch_id: '-1', created: true, canceled: true, cancel_reason: 'refused' });
  }

  /** Sends the event that the key was deleted. */
  deleted(watch_id: string, key: string): void {
    const kv = { key: Buffer.from(key), mod_revision: '9', create_revision: '0' };
    this.answer({ watch_id, events: [{ type: 'Delete', kv } as IEvent] });
  }

  answer(response: Partial<IWatchResponse>): void {
    this.#listeners.at(-1)?.onResponse({
      created: false,
      canceled: false,
      compact_revision: '0',
      events: [],
      ...response,
    } as unknown as IWatchResponse);
  }

  get #newest(): readonly IWatchRequest[] {
    return this.written.at(-1) ?? [];
  }
}

function ignore(): void {
  // Does nothing, since the fake member has no real stream to close.
}
