import { QueueLockError } from '@queuelock/core/backend';

/** A listener that is called once, when an entry ends. */
export interface EntryEndListener {
  /** Called when the session of the entry has withdrawn the entry. */
  withdrawn(): void;
  /** Called when the entry has ended for any other reason than a withdrawal by its session, such as a removal by another client. */
  lost(why: unknown): void;
}

const NONE: readonly EntryEndListener[] = [];

type End = { readonly status: 'withdrawn' } | { readonly status: 'lost'; readonly why: unknown };

/**
 * The end of an entry: its withdrawal or its loss, whichever comes first. It has plain listeners instead of a Subject, which would take more memory
 * for every hold.
 */
export class EntryEnd {
  #listeners: readonly EntryEndListener[] = NONE;
  #end: End | undefined;

  /** Adds a listener for the end. Notifies it at once if the entry has already ended. */
  add(listener: EntryEndListener): void {
    if (this.#end) notify(listener, this.#end);
    // Uses `concat` to save memory: it allocates an array of one element. A spread or `push` allocates room for 17 elements.
    else this.#listeners = this.#listeners.concat(listener);
  }

  delete(listener: EntryEndListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  withdraw(): void {
    this.#finish({ status: 'withdrawn' });
  }

  lose(why: unknown): void {
    this.#finish({ status: 'lost', why });
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    const listeners = this.#listeners;
    this.#listeners = NONE;
    for (const listener of listeners) notify(listener, end);
  }
}

function notify(listener: EntryEndListener, end: End): void {
  if (end.status === 'withdrawn') listener.withdrawn();
  else listener.lost(end.why);
}

/** Returns the error of an entry that another client has removed. */
export function removedByOtherClient(): QueueLockError {
  return new QueueLockError('ENTRY_LOST', 'the entry was removed by another client');
}
