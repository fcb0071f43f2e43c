/** A release is told when it is confirmed, the next grant often before that. */
const WAIT_MS = 100;

/** Something that happened at a time; a stamp. */
interface Stamped {
  readonly t: string;
}

export interface Sorter<E extends Stamped> {
  readonly add: (event: E) => void;
  /** Hands on whatever is still held back. */
  readonly flush: () => void;
}

/** Hands events on in the order of their stamps, a little late; one that is later still comes when it comes. */
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
