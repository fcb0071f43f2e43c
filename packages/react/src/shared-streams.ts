import type { Observable, Unsubscribable } from 'rxjs';

/** The identity of a stream that several components share, and its value before the first event. */
export interface SharedSource<T> {
  /**
   * Object to which the stream belongs. Streams of different owners are different streams. The state of a
   * stream is garbage-collected with its owner.
   */
  readonly owner: object;
  /** Key of the stream. Streams of the same owner with the same key are the same. */
  readonly key: string;
  /** Value of the stream before the first event. It must be the same object in each rendering. */
  readonly initial: T;
  /** Opens the stream. Called for the first subscriber. */
  open(): Observable<T>;
}

// Time in milliseconds for which a stream without subscribers stays open. StrictMode unsubscribes and
// subscribes again at once. A change of routes unsubscribes on one page and subscribes on the next within
// this time.
const GRACE_MS = 1_000;

interface SharedStream {
  readonly listeners: Set<() => void>;
  value: unknown;
  readonly upstream: Unsubscribable;
  idle: ReturnType<typeof setTimeout> | undefined;
}

// The map of streams is stored outside of components, so that a rendering that React repeats or discards
// opens no stream.
const streams = new WeakMap<object, Map<string, SharedStream>>();

/** Returns the present value of a stream, or `initial` while it has no subscriber. */
export function presentValue<T>({ owner, key, initial }: SharedSource<T>): T {
  const stream = streams.get(owner)?.get(key);
  return stream ? (stream.value as T) : initial;
}

/**
 * Calls `listener` at every change, until the returned function is called. All listeners of a stream share one subscription, which ends
 * 1,000 ms after the last of them is removed.
 */
export function listen(source: SharedSource<unknown>, listener: () => void): () => void {
  const stream = streamOf(source);
  // Wraps the listener in a new function, because a set would keep a listener that is added twice only once.
  const own = (): void => {
    listener();
  };
  clearTimeout(stream.idle);
  stream.listeners.add(own);
  return () => {
    if (!stream.listeners.delete(own) || stream.listeners.size > 0) return;
    stream.idle = setTimeout(() => {
      streams.get(source.owner)?.delete(source.key);
      stream.upstream.unsubscribe();
    }, GRACE_MS);
  };
}

function streamOf(source: SharedSource<unknown>): SharedStream {
  const { owner, key } = source;
  const ofOwner = streams.get(owner) ?? new Map<string, SharedStream>();
  const stream = ofOwner.get(key) ?? opened(source);
  streams.set(owner, ofOwner.set(key, stream));
  return stream;
}

function opened(source: SharedSource<unknown>): SharedStream {
  const listeners = new Set<() => void>();
  const stream = { listeners, value: source.initial, idle: undefined };
  const upstream = source.open().subscribe({
    next: (value) => {
      if (Object.is(value, stream.value)) return;
      stream.value = value;
      for (const listener of [...listeners]) listener();
    },
    error: throwUncaught,
  });
  return Object.assign(stream, { upstream });
}

/** Throws an error of a stream as an uncaught one. The client's streams never error, so an error is a defect. */
export function throwUncaught(error: unknown): never {
  throw error;
}
