import type { Connection } from './connection.ts';
import { Observable, ReplaySubject, Subject } from '../base/rx.ts';
import { WatchLine, type OnStream } from './watch-line.ts';
import type { Watcher, WatchNews, WatchTarget } from './watch-target.ts';

export type { WatchNews, WatchTarget } from './watch-target.ts';

/** The watches of one queue. They share one stream, so that their events arrive in order. */
interface Group {
  readonly line: WatchLine;
  size: number;
}

// A server buffers 128 events of one revision for a stream. Events of a full stream arrive up to 100 ms later.
const WATCHERS_A_LINE = 100;
const MAX_LINES = 8;
// Streams are closed late, so that changing numbers of watches do not open and close them all the time.
const FEW_A_LINE = WATCHERS_A_LINE / 2;
const MARKS = /\.queuelock\/shared\/(?=[^]*\/)/;

/** All watches of a backend: on one stream, and on up to eight streams if there are many. */
export class Watches {
  /** Emits when a stream breaks. */
  readonly broken$: Observable<unknown>;
  /** Emits when the backend is closed. No notifications follow. */
  readonly closed$: Observable<void>;
  readonly #broken$ = new Subject();
  readonly #closed$ = new ReplaySubject<void>(1);
  readonly #newLine: () => WatchLine;
  readonly #first: WatchLine;
  readonly #lines: Set<WatchLine>;
  readonly #groups = new Map<string, Group>();
  #closed = false;

  constructor(connection: Connection, answerWithinMs: number, onStream?: OnStream) {
    this.broken$ = this.#broken$;
    this.closed$ = this.#closed$;
    const onBroken = (failure: unknown): void => this.#broken$.next(failure);
    this.#newLine = () => new WatchLine({ connection, answerWithinMs, onBroken, onStream });
    this.#first = this.#newLine();
    this.#lines = new Set([this.#first]);
    void connection.trouble$.forEach((endpoint) => {
      for (const line of this.#lines) line.probe(endpoint);
    });
  }

  /** Returns a cold stream, which never ends by itself. Unsubscribing sends the cancellation without waiting for a response. */
  watch(target: WatchTarget): Observable<WatchNews> {
    return new Observable((subscriber) => {
      const watcher: Watcher = { target, tell: (news) => subscriber.next(news) };
      const queue = queueOf(target);
      const { line } = this.#enter(queue);
      line.add(watcher);
      return () => {
        line.remove(watcher);
        this.#leave(queue);
      };
    });
  }

  close(): void {
    this.#closed = true;
    for (const line of this.#lines) line.close();
    this.#broken$.complete();
    this.#closed$.next();
  }

  #enter(queue: string): Group {
    const group = this.#groups.get(queue) ?? { line: this.#roomiest(), size: 0 };
    this.#groups.set(queue, group);
    group.size += 1;
    return group;
  }

  #roomiest(): WatchLine {
    const roomiest = [...this.#lines].reduce((one, other) => (other.size < one.size ? other : one));
    if (this.#closed || roomiest.size < WATCHERS_A_LINE || this.#lines.size === MAX_LINES) return roomiest;
    const line = this.#newLine();
    this.#lines.add(line);
    return line;
  }

  #leave(queue: string): void {
    const group = this.#groups.get(queue);
    if (!group || (group.size -= 1) > 0) return;
    this.#groups.delete(queue);
    for (const line of this.#lines) if (this.#isSpare(line) && this.#lines.delete(line)) line.close();
  }

  #isSpare(line: WatchLine): boolean {
    if (line === this.#first || line.size > 0) return false;
    const watchers = [...this.#lines].reduce((sum, { size }) => sum + size, 0);
    return watchers < FEW_A_LINE * (this.#lines.size - 1);
  }
}

/** Returns what the keys of a queue have in common, those of its marks included. */
function queueOf({ key }: WatchTarget): string {
  const path = key?.toString('latin1').replace(MARKS, '') ?? '';
  return path.slice(0, path.lastIndexOf('/') + 1) || path;
}
