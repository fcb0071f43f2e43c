import type { Observable, Unsubscribable } from 'rxjs';

/** How a stream is told from others, and what is shown before its first value. */
export interface SharedSource<T> {
  /** Streams of different owners are never the same; when the owner goes, so does what is kept of them. */
  readonly owner: object;
  /** The same key of the same owner means the same stream. */
  readonly key: string;
  /** What is known before the first value: the same object each time. */
  readonly initial: T;
  /** Is called when the first subscriber comes. */
  open(): Observable<T>;
}

// StrictMode unsubscribes and subscribes again at once, a change of routes within a moment.
const GRACE_MS = 1_000;

interface SharedStream {
  readonly listeners: Set<() => void>;
  value: unknown;
  readonly upstream: Unsubscribable;
  idle: ReturnType<typeof setTimeout> | undefined;
}

// Outside of rendering, so that what React renders twice or throws away opens nothing.
const streams = new WeakMap<object, Map<string, SharedStream>>();

/** The present value of a stream; `initial` while nobody has subscribed. */
export function presentValue<T>({ owner, key, initial }: SharedSource<T>): T {
  const stream = streams.get(owner)?.get(key);
  return stream ? (stream.value as T) : initial;
}

/**
 * Calls `listener` at every change until the function that it answers is called. However many listeners there are, the stream has
 * one subscription, which ends a second after the last of them has gone.
 */
export function listen(source: SharedSource<unknown>, listener: () => void): () => void {
  const stream = streamOf(source);
  // Not the listener itself: whoever comes twice is two.
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
  const known = streams.get(owner) ?? new Map<string, SharedStream>();
  const stream = known.get(key) ?? opened(source);
  streams.set(owner, known.set(key, stream));
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
    error: unforeseen,
  });
  return Object.assign(stream, { upstream });
}

/** The client's streams do not err. If one does, that is a defect, and told as such: RxJS throws it to the page. */
export function unforeseen(error: unknown): never {
  throw error;
}
