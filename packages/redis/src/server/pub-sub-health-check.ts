import type { Clock } from '@queuelock/core/backend';

const EVERY_MS = 10_000;

interface Settings {
  readonly clock: Clock;
  /** How long what was said may be on its way. */
  readonly withinMs: number;
  /** Says something to oneself; resolves when the server has it. */
  readonly say: () => Promise<unknown>;
  /** It was said, and not heard. */
  readonly onDeaf: () => void;
}

/**
 * Asks from time to time whether what is said is heard: a connection that hears can be dead without a word, or lead to another server than
 * the one that is asked.
 */
export class PubSubHealthCheck {
  readonly #settings: Settings;
  #cancel: (() => void) | undefined;
  #isOpen = false;
  #heard = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  begin(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#ask();
  }

  heard(): void {
    this.#heard = true;
  }

  close(): void {
    this.#isOpen = false;
    this.#cancel?.();
  }

  #ask(): void {
    const { clock, withinMs, say, onDeaf } = this.#settings;
    const later = (ms: number, task: () => void): void => {
      if (this.#isOpen) this.#cancel = clock.after(ms, task);
    };
    const again = (): void => {
      this.#ask();
    };
    later(EVERY_MS, () => {
      this.#heard = false;
      say().then(() => {
        later(withinMs, () => {
          if (!this.#heard) onDeaf();
          again();
        });
      }, again);
    });
  }
}
