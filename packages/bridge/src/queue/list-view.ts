import type { QueuesState } from '@queuelock/core';
import { snapshotOf } from '../snapshots/entry.ts';
import { filter, startWith, type Observable } from '../rx.ts';
import { textOf, type ListedRecord, type SharedList } from './shared-list.ts';

/** Number of queues in one piece of JSON. After each piece the encoder checks whether it has to pause. */
const STEP = 500;

/**
 * A view of a list of queues that several topics share. It shows only the queues whose names begin with one
 * prefix.
 */
export class ListView {
  readonly #prefix: string;
  readonly #list: SharedList;
  readonly #onClose: () => void;
  #isClosed = false;
  #shown: readonly ListedRecord[] = [];
  #status: SharedList['state'] | undefined;

  constructor(prefix: string, list: SharedList, onClose: () => void) {
    this.#prefix = prefix;
    this.#list = list;
    this.#onClose = onClose;
  }

  /**
   * Emits when the list's queues with the prefix of this view have changed. Also emits upon subscription if
   * any state is known.
   */
  get changed$(): Observable<unknown> {
    return this.#list.changed$.pipe(
      startWith(undefined),
      filter(() => this.#hasChanged()),
    );
  }

  get state(): QueuesState {
    return { ...this.#list.state, queues: this.#shown.map(({ queue }) => queue) };
  }

  /** Yields the current snapshot of the view's queues as pieces of JSON. */
  *pieces(now: number, max: number): Generator<string> {
    const shown = this.#shown;
    const head = JSON.stringify({
      ...snapshotOf(this.#list.state, now),
      prefix: this.#prefix,
      count: shown.length,
    });
    yield `${head.slice(0, -1)},"queues":[`;
    const queues = shown.slice(0, max);
    for (let begin = 0; begin < queues.length; begin += STEP) {
      const texts = queues.slice(begin, begin + STEP).map(textOf);
      yield `${begin === 0 ? '' : ','}${texts.join(',')}`;
    }
    yield ']}';
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
  }

  #hasChanged(): boolean {
    const { state } = this.#list;
    if (state.status === 'connecting' && state.error === undefined) return false;
    const records = this.#list.recordsOf(this.#prefix);
    const isSame =
      this.#status?.status === state.status &&
      this.#status.error === state.error &&
      records.length === this.#shown.length &&
      records.every((record, index) => record === this.#shown[index]);
    this.#shown = records;
    this.#status = state;
    return !isSame;
  }
}
