import type { Clock } from '@queuelock/core/backend';

const EVERY_MS = 10_000;

interface Settings {
  readonly clock: Clock;
  /** How long a published message may take to arrive, in milliseconds. */
  readonly withinMs: number;
  /**
   * Publishes a message on a channel to which this process is subscribed. Resolves when the server has accepted
   * the message, which may be before this process receives it.
   */
  readonly say: () => Promise<unknown>;
  /** Called when the published message did not arrive in time. */
  readonly onDeaf: () => void;
}

/**
 * Publishes a message to this process every 10 s and checks that it arrives. A subscribed connection can be dead without an error, or lead to
 * another server than the connection for steps.
 */
export class PubSubHealthCheck {
  readonly #settings: Settings;
  #cancel: (() => void) | undefined;
  #isOpen = false;
  #hasArrived = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  begin(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#request();
  }

  messageArrived(): void {
    this.#hasArrived = true;
  }

  close(): void {
    this.#isOpen = false;
    this.#cancel?.();
  }

  #request(): void {
    const { clock, withinMs, say, onDeaf } = this.#settings;
    const later = (ms: number, task: () => void): void => {
      if (this.#isOpen) this.#cancel = clock.after(ms, task);
    };
    const again = (): void => {
      this.#request();
    };
    later(EVERY_MS, () => {
      this.#hasArrived = false;
      say().then(() => {
        later(withinMs, () => {
          if (!this.#hasArrived) onDeaf();
          again();
        });
      }, again);
    });
  }
}
