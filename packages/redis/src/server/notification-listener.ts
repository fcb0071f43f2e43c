import type { Clock } from '@queuelock/core/backend';
import type { Driver, Wire } from '../driver/driver.ts';
import { wordOf } from '../driver/errors.ts';
import { Link } from './link.ts';

/** Who listens to a channel. */
export interface Listener {
  readonly onMessage: (message: string) => void;
  /** From now on everything is told; again when something may have been missed. */
  readonly onReady: () => void;
  /** This user may not listen to it. Without it the whole connection fails with that. */
  readonly onRefused?: (error: unknown) => void;
}

/** The connection that hears what is published. */
export class NotificationListener {
  readonly #link: Link;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #heard = new Set<string>();
  #wire: Wire | undefined;

  constructor(driver: Driver, settings: { readonly clock: Clock; readonly withinMs: number }) {
    this.#link = new Link(driver, {
      ...settings,
      onUp: (wire) => this.#hearAll(wire),
      onDown: () => {
        this.#heard.clear();
        // Who looks would go on to show what may not be so any more.
        for (const listeners of [...this.#listeners.values()])
          for (const { onReady } of [...listeners]) onReady();
      },
      onMessage: (channel, message) => {
        for (const { onMessage } of [...(this.#listeners.get(channel) ?? [])]) onMessage(message);
      },
    });
  }

  /** Resolves when what is listened to is heard. @throws {QueueLockError} */
  async up(): Promise<void> {
    await this.#link.connected();
  }

  /** Until the answer is called. */
  listen(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    if (this.#heard.has(channel)) listener.onReady();
    else if (this.#wire) this.#hear(channel, this.#wire).catch(() => undefined);
    this.#link.keep();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
      this.#listeners.delete(channel);
      this.#heard.delete(channel);
      this.#wire?.unsubscribe(channel).catch(() => undefined);
    };
  }

  /** What is heard may be of another server than the one that is asked, or nothing at all. */
  renew(error: unknown): void {
    this.#link.renew(error);
  }

  close(): void {
    this.#link.close();
  }

  async #hearAll(wire: Wire): Promise<void> {
    this.#heard.clear();
    this.#wire = wire;
    await Promise.all([...this.#listeners.keys()].map((channel) => this.#hear(channel, wire)));
  }

  async #hear(channel: string, wire: Wire): Promise<void> {
    try {
      await wire.subscribe(channel);
    } catch (error) {
      const refused = [...(this.#listeners.get(channel) ?? [])];
      if (wordOf(error) === '' || refused.some(({ onRefused }) => !onRefused)) throw error;
      for (const { onRefused } of refused) onRefused?.(error);
      return;
    }
    const listeners = this.#listeners.get(channel);
    if (wire !== this.#wire || !listeners) return;
    this.#heard.add(channel);
    for (const { onReady } of [...listeners]) onReady();
  }
}
