import type { HistoryEvent } from './history.ts';

/** A release is told when it is confirmed, the next grant often before that. */
const WAIT_MS = 100;

export interface Sorter {
  readonly add: (event: HistoryEvent) => void;
  /** Hands on whatever is still held back. */
  readonly flush: () => void;
}

/** Hands events on in the order of their stamps, a little late; one that is later still comes when it comes. */
export function inOrder(sink: (event: HistoryEvent) => void): Sorter {
  let waiting: HistoryEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting.sort((a, b) => Number(BigInt(a.t) - BigInt(b.t)));
    waiting = [];
    batch.forEach(sink);
  };
  return {
    add(event) {
      waiting.push(event);
      timer ??= setTimeout(flush, WAIT_MS);
    },
    flush,
  };
}
