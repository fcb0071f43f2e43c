import { repeatUntilDefinite } from '../kit/definite.ts';
import { encodeLabel, type EntryLabel } from './entry-value.ts';
import type { LiveSession } from '../session/session.ts';
import type { EntrySpec } from '../api/spi.ts';

/** Stores a value in the entry; `false` if there is no entry any more. */
type Write = (value: string) => Promise<boolean>;

const NOTHING_YET = Promise.resolve();

/** What an own entry stores. Changes build on each other and are written one after the other. */
export class OwnLabel {
  readonly #live: LiveSession;
  readonly #spec: EntrySpec;
  #label: EntryLabel | string;
  #last: Promise<unknown> = NOTHING_YET;

  constructor(live: LiveSession, spec: EntrySpec, label: EntryLabel | string) {
    this.#live = live;
    this.#spec = spec;
    this.#label = label;
  }

  /** Adds to what is told, where it is told in our form. Otherwise as `replace`. */
  tell(change: (label: EntryLabel) => EntryLabel, write?: Write): Promise<boolean> {
    return this.#next((label) => (typeof label === 'string' ? label : change(label)), write);
  }

  /** Repeated until it is certain; `false` if there is no entry any more. Rejects when the session ends. */
  replace(label: string): Promise<boolean> {
    return this.#next(() => label);
  }

  #next(
    change: (label: EntryLabel | string) => EntryLabel | string,
    write: Write = (value) => this.#update(value),
  ): Promise<boolean> {
    const written = this.#last.then(async () => {
      const label = change(this.#label);
      const value = encodeLabel(label);
      const there = await repeatUntilDefinite(() => write(value), this.#live.liveness.ending);
      // What was refused is not told with the next change either.
      this.#label = label;
      return there;
    });
    this.#last = written.catch(() => undefined);
    return written;
  }

  #update(value: string): Promise<boolean> {
    return this.#live.session.update(this.#spec.queue, this.#spec.id, value);
  }
}
