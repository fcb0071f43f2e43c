import { ReplaySubject, type Observable } from './rx.ts';

/** Something that comes once. Its stream is made for the first who asks: most often nobody does. */
export class Moment {
  #hasCome = false;
  #come$: ReplaySubject<void> | undefined;

  get hasCome(): boolean {
    return this.#hasCome;
  }

  /** Emits when it comes; at once if it has. */
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
