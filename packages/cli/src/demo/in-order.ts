/**
 * Time in milliseconds for which events are held back. A release is reported when it is confirmed, often
 * after the next grant.
 */
const WAIT_MS = 100;

/** An event with a stamp. */
interface Stamped {
  readonly t: string;
}

export interface Sorter<E extends Stamped> {
  readonly add: (event: E) => void;
  /** Passes on all events that are held back. */
  readonly flush: () => void;
}

/**
 * Passes events on in the order of their stamps, with a short delay. An event that arrives later than that is
 * passed on at once.
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
