import { ReplaySubject, type Observable } from './rx.ts';

/** An event that happens at most once. Creates its stream only when an observer subscribes, because most such events have no observer. */
export class Moment {
  #hasCome = false;
  #come$: ReplaySubject<void> | undefined;

  get hasCome(): boolean {
    return this.#hasCome;
  }

  /** Emits when the event happens, or at once if it has happened. */
  get come$(): Observable<void> {
    if (!this.#come$) {
      this.#come$ = new ReplaySubject<void>(1);
      if (this.#hasCome) this.#come$.next();
    }
    return this.#come$;
  }

  come(): void {
    this.#hasCome = true;
    this.#come$?.next();
  }
}
