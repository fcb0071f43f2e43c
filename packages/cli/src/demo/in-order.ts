/**
 * Time in milliseconds for which events are delayed, so that they can be sorted by their stamps. A contender
 * reports a release only when the server has confirmed it. The event often arrives after that of the next
 * grant.
 */
const WAIT_MS = 100;

/** An event with a stamp. */
interface Stamped {
  readonly t: string;
}

export interface Sorter<E extends Stamped> {
  readonly add: (event: E) => void;
  /** Passes on all delayed events now. */
  readonly flush: () => void;
}

/**
 * Delays each event by 100 ms, and passes the events on in the order of their stamps. An event whose delay is
 * already over when it arrives is passed on at once, out of order.
 */
export function inOrder<E extends Stamped>(sink: (event: E) => void): Sorter<E> {
  let waiting: E[] = [];
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
