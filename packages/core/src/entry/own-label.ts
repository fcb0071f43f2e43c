import { repeatUntilDefinite } from '../kit/definite.ts';
import { encodeLabel, type EntryLabel } from './entry-value.ts';
import type { LiveSession } from '../session/live-session.ts';
import type { EntrySpec } from '../api/spi.ts';

/** Stores a value in the entry. Resolves to `false` if the entry no longer exists. */
type Write = (value: string) => Promise<boolean>;

const NOTHING_YET = Promise.resolve();

/** The stored label of one of this client's entries. Each change applies to the latest label, and one write is sent after another. */
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

  /** Applies a change to the label of the entry, and writes it. If the user has set the option `value`, writes that text again unchanged. */
  tell(change: (label: EntryLabel) => EntryLabel, write?: Write): Promise<boolean> {
    return this.#next((label) => (typeof label === 'string' ? label : change(label)), write);
  }

  /** Replaces the label. Retries until the outcome is certain. Resolves to `false` if the entry no longer exists. Rejects when the session ends. */
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
      // Keeps the changed label only after the write has succeeded. So the next write does not contain a
      // rejected change.
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
