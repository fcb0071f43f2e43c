import type { LockClient, QueueState, QueuesState } from '@queuelock/core';
import { describeFailure } from '../failure.ts';
import type { Span } from '../terminal/paint.ts';
import type { Paper } from '../terminal/terminal.ts';
import { EMPTY_METER, metered, rowsOf, type QueueRow } from './meter.ts';
import { pageOf, topLines } from './top-frame.ts';
import { FIRST_STATE, chosen, onKey, type Key, type TopState } from './top-state.ts';

/** The streams and clocks from which `queuelock top` reads its data. */
export interface TopSource {
  readonly list: Pick<LockClient, 'queues'>;
  readonly client: Pick<LockClient, 'watch'>;
  readonly prefix: string;
  /** Name of the store, for the title. */
  readonly storeLabel: string;
  /** Returns the milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
  /** Returns the time of day in milliseconds since 1970. */
  readonly wallTime: () => number;
}

/**
 * State of `queuelock top`: the data and the user's choices. It calls a listener when the screen must be
 * redrawn.
 */
export class TopModel {
  readonly #source: TopSource;
  readonly #onChange: () => void;
  readonly #list: { unsubscribe(): void };
  #state: TopState = FIRST_STATE;
  #queues: QueuesState = { status: 'connecting', queues: [] };
  #liveAt: number;
  #meter = EMPTY_METER;
  #opened: QueueState | undefined;
  #openedWatch: { unsubscribe(): void } | undefined;

  constructor(source: TopSource, onNews: () => void) {
    this.#source = source;
    this.#onChange = onNews;
    this.#liveAt = source.monotonic();
    this.#list = source.list.queues(source.prefix).subscribe({
      next: (queues) => {
        this.#take(queues);
      },
      error: () => undefined,
    });
  }

  /** Returns the lines of the current frame. */
  lines(paper: Paper): readonly (readonly Span[])[] {
    const { storeLabel, monotonic, wallTime } = this.#source;
    const now = monotonic();
    const rows = rowsOf(this.#meter, now);
    const { status, error } = this.#queues;
    return topLines(
      {
        storeLabel,
        state: this.#state,
        status,
        error: error === undefined ? undefined : describeFailure(error, false).replace(/^queuelock: /, ''),
        staleMs: now - this.#liveAt,
        rows,
        chosen: chosen(rows, this.#state),
        opened: this.#opened,
        now: wallTime(),
      },
      paper,
    );
  }

  /** Handles a pressed key. Returns `quit` if the key ends the view. */
  press(key: Key, paper: Paper): 'quit' | undefined {
    const names = chosen(rowsOf(this.#meter, this.#source.monotonic()), this.#state).map(nameOf);
    const entries = this.#opened?.entries.length ?? 0;
    const next = onKey(this.#state, key, { names, page: pageOf(paper), entries });
    if (next === 'quit') return next;
    const { opened } = this.#state;
    this.#state = next;
    if (next.opened !== opened) this.#open(next.opened);
    return undefined;
  }

  close(): void {
    this.#list.unsubscribe();
    this.#openedWatch?.unsubscribe();
  }

  #take(queues: QueuesState): void {
    this.#queues = queues;
    if (queues.status === 'live') {
      this.#liveAt = this.#source.monotonic();
      this.#meter = metered(this.#meter, queues.queues, this.#liveAt);
    }
    this.#onChange();
  }

  #open(name: string | undefined): void {
    this.#openedWatch?.unsubscribe();
    this.#openedWatch = undefined;
    this.#opened = undefined;
    if (name === undefined) return;
    this.#openedWatch = this.#source.client.watch(name).subscribe({
      next: (state) => {
        this.#opened = state;
        this.#onChange();
      },
      error: () => undefined,
    });
  }
}

function nameOf({ name }: QueueRow): string {
  return name;
}
