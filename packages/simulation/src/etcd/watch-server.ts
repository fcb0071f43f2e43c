import type { IWatchCreateRequest, IWatchRequest, IWatchResponse } from 'etcd3';
import { losesEvents } from '../product.ts';
import { spanOf, type Span } from './keyspace.ts';
import type { Member } from './member.ts';
import { numberOf } from './reading.ts';

interface Watch {
  readonly id: string;
  readonly span: Span;
  readonly filters: readonly string[];
  /** The first revision whose events the watch has not sent yet. */
  next: number;
  /**
   * Whether the watch still has to send events of past revisions. It sends them every 100 ms. Events of new
   * revisions are sent at once.
   */
  isBehind: boolean;
}

const CATCHES_UP_EVERY_MS = 100;

/** The watches of one stream, as one member serves them. */
export class WatchServer {
  readonly #member: Member;
  readonly #losesEvents: boolean;
  readonly #tell: (response: IWatchResponse) => void;
  readonly #mayRead: () => boolean;
  readonly #watches = new Map<string, Watch>();
  #isCatchingUp = false;

  constructor(member: Member, report: (response: IWatchResponse) => void, mayRead: () => boolean) {
    this.#member = member;
    this.#losesEvents = losesEvents(member.version);
    this.#tell = report;
    this.#mayRead = mayRead;
  }

  get size(): number {
    return this.#watches.size;
  }

  hear({ create_request, cancel_request, progress_request }: IWatchRequest): void {
    if (create_request) this.#create(create_request);
    const id = String(cancel_request?.watch_id);
    if (cancel_request && this.#watches.delete(id)) this.#respond({ watch_id: id, canceled: true });
    // As in etcd, the server does not report progress (its present revision) while any watch still has to
    // send events of past revisions.
    if (progress_request && !this.#isCatchingUp) this.#respond({ watch_id: '-1' });
  }

  /**
   * Sends the new events to all watches that are up to date. Called when the member has applied log entries.
   */
  applied(): void {
    for (const watch of this.#watches.values()) if (!watch.isBehind) this.#showEvents(watch);
  }

  #create({ watch_id, start_revision, filters = [], key, range_end }: IWatchCreateRequest): void {
    const { revision } = this.#member;
    if (!this.#mayRead()) {
      const cancel_reason = 'rpc error: code = PermissionDenied desc = etcdserver: permission denied';
      this.#respond({ watch_id: '-1', created: true, canceled: true, cancel_reason });
      return;
    }
    // If a watch without a start revision arrives at the same moment as a write, it also reports that
    // write. The server sends the event late, as it does for a watch of past revisions.
    const requested = numberOf(start_revision);
    const isOvertaken = requested === 0 && revision > 1 && this.#member.isReading;
    const from = isOvertaken ? revision : requested;
    const isBehind = from > 0 && from <= revision;
    const id = String(watch_id ?? this.#watches.size);
    const span = spanOf({ ...(key ? { key } : {}), ...(range_end ? { range_end } : {}) });
    const names = filters.map(String);
    this.#watches.set(id, { id, span, filters: names, next: from > 0 ? from : revision + 1, isBehind });
    const header = this.#member.header(isOvertaken ? revision - 1 : revision);
    this.#respond({ watch_id: id, created: true, header });
    if (isBehind) this.#catchUp();
  }

  #catchUp(): void {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    this.#member.machine.after(CATCHES_UP_EVERY_MS, () => {
      this.#isCatchingUp = false;
      const { compacted } = this.#member;
      for (const watch of [...this.#watches.values()].filter(({ isBehind }) => isBehind)) {
        watch.isBehind = false;
        if (watch.next >= compacted) {
          this.#showEvents(watch);
          continue;
        }
        this.#watches.delete(watch.id);
        this.#respond({ watch_id: watch.id, canceled: true, compact_revision: String(compacted) });
      }
    });
  }

  #showEvents(watch: Watch): void {
    const { revision, store } = this.#member;
    const { losesBefore } = store.keyspace;
    const events = store.keyspace
      .events(watch.span, watch.next, revision)
      .filter(({ type }) => !watch.filters.includes(type === 'Put' ? 'Noput' : 'Nodelete'))
      .filter(
        ({ type, kv }) => type === 'Put' || !this.#losesEvents || Number(kv.mod_revision) >= losesBefore,
      );
    watch.next = Math.max(watch.next, revision + 1);
    if (events.length > 0) this.#respond({ watch_id: watch.id, events });
  }

  #respond(response: Partial<IWatchResponse>): void {
    this.#tell({
      header: this.#member.header(),
      watch_id: '0',
      created: false,
      canceled: false,
      compact_revision: '0',
      cancel_reason: '',
      fragment: false,
      events: [],
      ...response,
    });
  }
}
