/**
 * Maximum time in milliseconds for which events are delayed, so that they can be sorted by their stamps. A
 * contender reports a release only when the server has confirmed it. That event often arrives after the event
 * of the next grant.
 */
const WAIT_MS = 100;

/** An event with a stamp. */
interface Stamped {
  readonly t: string;
}

export interface Sorter<E extends Stamped> {
  readonly add: (event: E) => void;
  /** Passes on all delayed events now, in the order of their stamps. */
  readonly flush: () => void;
}

/**
 * Collects events for up to 100 ms, and then passes them to `sink` in the order of their stamps. An event
 * that arrives after events with later stamps were passed on is out of order.
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
