import {
  isQueueLockError,
  type Backend,
  type EntrySpec,
  type Session,
  type Turn,
} from '@queuelock/core/backend';
import type { Observable } from 'rxjs';

let ids = 0;

/** Returns the properties of an entry for an enqueue, with a new id. Default: exclusive, in the queue `q`. */
export function newSpec(changes: Partial<EntrySpec> = {}): EntrySpec {
  ids += 1;
  return { queue: 'q', id: ids.toString(16).padStart(32, '0'), shared: false, limit: 1, ...changes };
}

export function openSession(backend: Backend, ttlMs = 1_000): Promise<Session> {
  return backend.open(ttlMs, new AbortController().signal);
}

/** Records the emissions of a stream: its values, and at the end the code of its error. */
export function record<T>(source$: Observable<T>): { seen: (T | string)[]; stop(): void } {
  const seen: (T | string)[] = [];
  const subscription = source$.subscribe({
    next: (value) => {
      seen.push(value);
    },
    error: (error: unknown) => {
      seen.push(codeIn(error));
    },
  });
  return {
    seen,
    stop: () => {
      subscription.unsubscribe();
    },
  };
}

/** Records the turns of an entry: for each one, whether the entry is admitted. */
export function recordTurns(turns$: Observable<Turn>): {
  readonly seen: readonly (boolean | string)[];
  stop(): void;
} {
  const turns = record(turns$);
  return {
    get seen() {
      return turns.seen.map((turn) => (typeof turn === 'string' ? turn : turn.admitted));
    },
    stop: () => {
      turns.stop();
    },
  };
}

/** Resolves with the code of the error that the promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => codeIn(error),
  );
}

function codeIn(error: unknown): string {
  return isQueueLockError(error) ? error.code : String(error);
}
