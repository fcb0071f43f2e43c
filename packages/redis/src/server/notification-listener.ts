import type { Clock } from '@queuelock/core/backend';
import type { Driver, Wire } from '../driver/driver.ts';
import { wordOf } from '../driver/errors.ts';
import { Link } from './link.ts';

/** Callbacks of a subscription to a channel. */
export interface Listener {
  readonly onMessage: (message: string) => void;
  /**
   * Called when the subscription becomes active, and again when messages on the channel may have been missed.
   */
  readonly onReady: () => void;
  /** Called when the user may not subscribe to the channel. Without this callback, this error ends the connection with all its subscriptions. */
  readonly onRefused?: (error: unknown) => void;
}

/** The connection that is subscribed to channels. It resubscribes whenever it was reopened. */
export class NotificationListener {
  readonly #link: Link;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #subscribed = new Set<string>();
  #wire: Wire | undefined;

  constructor(driver: Driver, settings: { readonly clock: Clock; readonly withinMs: number }) {
    this.#link = new Link(driver, {
      ...settings,
      onUp: (wire) => this.#receiveAll(wire),
      onDown: () => {
        this.#subscribed.clear();
        // Observers miss notifications while this connection is down. `onReady` makes them read their queues
        // when it breaks, so that they do not show an outdated state until it is open again.
        for (const listeners of [...this.#listeners.values()])
          for (const { onReady } of [...listeners]) onReady();
      },
      onMessage: (channel, message) => {
        for (const { onMessage } of [...(this.#listeners.get(channel) ?? [])]) onMessage(message);
      },
    });
  }

  /**
   * Resolves when all subscriptions are active.
   * @throws {QueueLockError} when the link is closed or cannot connect in time
   */
  async up(): Promise<void> {
    await this.#link.connected();
  }

  /** Subscribes to a channel until the returned function is called. */
  listen(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    if (this.#subscribed.has(channel)) listener.onReady();
    else if (this.#wire) this.#receive(channel, this.#wire).catch(() => undefined);
    this.#link.keep();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
      this.#listeners.delete(channel);
      this.#subscribed.delete(channel);
      this.#wire?.unsubscribe(channel).catch(() => undefined);
    };
  }

  /**
   * Replaces the connection for notifications. Called when it receives nothing at all, or may lead to another server than the connection for
   * commands.
   */
  renew(error: unknown): void {
    this.#link.renew(error);
  }

  close(): void {
    this.#link.close();
  }

  async #receiveAll(wire: Wire): Promise<void> {
    this.#subscribed.clear();
    this.#wire = wire;
    await Promise.all([...this.#listeners.keys()].map((channel) => this.#receive(channel, wire)));
  }

  async #receive(channel: string, wire: Wire): Promise<void> {
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
    this.#subscribed.add(channel);
    for (const { onReady } of [...listeners]) onReady();
  }
}
