/** Receives the end of an entry. */
export interface EntryEndListener {
  /** Called when the session has withdrawn the entry, which is no loss. */
  withdrawn(): void;
  /** Called when the entry was removed for any other reason. */
  lost(why: unknown): void;
}

const NONE: readonly EntryEndListener[] = [];

type End = { readonly status: 'withdrawn' } | { readonly status: 'lost'; readonly why: unknown };

/** The end of an entry: its withdrawal or its loss, whichever comes first. Keeps plain listeners instead of a Subject, since every hold has one. */
export class EntryEnd {
  #listeners: readonly EntryEndListener[] = NONE;
  #end: End | undefined;

  /** Adds a listener for the end. Notifies it at once if the entry has already ended. */
  add(listener: EntryEndListener): void {
    if (this.#end) notify(listener, this.#end);
    else this.#listeners = [...this.#listeners, listener];
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
