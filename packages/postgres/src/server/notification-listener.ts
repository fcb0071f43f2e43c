import { connectionClosed } from '@queuelock/core/backend';
import type { Clock } from '@queuelock/core/backend';
import type { Driver, Wire } from '../driver/driver.ts';
import { asQueueLockError, breaksConnection } from '../driver/errors.ts';
import type { Opener } from './opener.ts';
import { within } from '../base/within.ts';

/** Callbacks of a subscription to a channel. */
export interface Listener {
  readonly onMessage: (message: string) => void;
  /** Called when the subscription is active, and again when notifications may have been missed. */
  readonly onReady: () => void;
}

interface Settings {
  readonly clock: Clock;
  readonly withinMs: number;
  readonly inbox: string;
  /**
   * Sends a notification over another connection to `inbox`, the channel on which this process gets its
   * notifications.
   */
  readonly say: () => Promise<unknown>;
  /** Called when the connection broke. The listener opens a new one by itself. */
  readonly onDown: () => void;
  /**
   * Called when the listener finds that the open connection gets no notifications, for instance behind a
   * pooler.
   */
  readonly onDeaf: () => void;
}

/**
 * Milliseconds within which a notification from this process to itself must arrive. Otherwise the listener
 * assumes that no notifications arrive.
 */
const ARRIVES_WITHIN_MS = 500;

/**
 * The connection that receives notifications. It sends heartbeats too: they need not wait for steps, and they
 * detect that the connection is dead. Behind a pooler in transaction mode no notifications arrive. To find
 * out, the listener sends a notification to itself.
 */
export class NotificationListener {
  readonly #driver: Driver;
  readonly #opener: Opener;
  readonly #settings: Settings;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #subscribed = new Set<string>();
  #wire: Wire | undefined;
  #connecting: Promise<void> | undefined;
  #onSaid: (() => void) | undefined;
  #isDeaf = false;
  #isClosed = false;

  constructor(driver: Driver, opener: Opener, settings: Settings) {
    this.#driver = driver;
    this.#opener = opener;
    this.#settings = settings;
  }

  /** Whether no notifications arrive on this connection, so that waiters must poll. */
  get isDeaf(): boolean {
    return this.#isDeaf;
  }

  /**
   * Resolves when all subscriptions to channels are active, or when the listener has found that no
   * notifications arrive.
   * @throws {QueueLockError} when it cannot connect
   */
  async up(): Promise<void> {
    if (this.#isClosed) throw connectionClosed(this.#driver.endpoint);
    if (this.#wire) return;
    const { clock, withinMs } = this.#settings;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    const limit = {
      clock,
      ms: 2 * withinMs + ARRIVES_WITHIN_MS,
      endpoint: this.#driver.endpoint,
      reason: () => this.#driver.exhaustion?.(),
    };
    await within(limit, this.#connecting);
  }

  /** Listens to a channel until the returned function is called. */
  listen(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    if (this.#subscribed.has(channel)) listener.onReady();
    else if (this.#wire) void this.#receive(channel, this.#wire);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
      this.#listeners.delete(channel);
      if (this.#subscribed.delete(channel) && this.#wire)
        void this.#request(this.#wire, `unlisten "${channel}"`).catch(() => undefined);
    };
  }

  /** Sends a statement on the connection that receives notifications. */
  async ask(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
    if (!this.#wire) await this.up();
    if (!this.#wire) throw connectionClosed(this.#driver.endpoint);
    return this.#request(this.#wire, text, values);
  }

  /** Calls `onReady` of all subscriptions, because notifications may have been missed. */
  alert(): void {
    for (const listeners of [...this.#listeners.values()])
      for (const { onReady } of [...listeners]) onReady();
  }

  close(): void {
    this.#isClosed = true;
    const wire = this.#wire;
    this.#wire = undefined;
    if (wire) void this.#unlistenAndRelease(wire);
  }

  /**
   * Releases the connection that receives notifications. If it belongs to the application's pool, first makes
   * it stop listening to channels.
   */
  async #unlistenAndRelease(wire: Wire): Promise<void> {
    if (this.#driver.isShared) await this.#request(wire, 'unlisten *').catch(() => undefined);
    wire.release(false);
  }

  async #connect(): Promise<void> {
    const its: { wire?: Wire; isOver?: true } = {};
    const opened = await this.#opener.open({
      onMessage: (channel, message) => {
        this.#onMessage(channel, message);
      },
      onEnd: () => {
        its.isOver = true;
        if (its.wire) this.#lost(its.wire);
      },
    });
    try {
      for (const channel of new Set([this.#settings.inbox, ...this.#listeners.keys()]))
        await this.#within(opened.query(`listen "${channel}"`));
      await this.#sayAndHear();
      if (its.isOver) throw new Error('the connection broke');
    } catch (error) {
      opened.release(true);
      throw asQueueLockError(error, this.#driver);
    }
    if (this.#isClosed) {
      await this.#unlistenAndRelease(opened);
      throw connectionClosed(this.#driver.endpoint);
    }
    its.wire = this.#wire = opened;
    for (const channel of this.#listeners.keys()) this.#subscribed.add(channel);
    if (this.#isDeaf) this.#settings.onDeaf();
    this.alert();
  }

  async #sayAndHear(): Promise<void> {
    const { clock, say } = this.#settings;
    this.#isDeaf = true;
    const output = new Promise<void>((resolve) => {
      this.#onSaid = resolve;
    });
    await say();
    await within({ clock, ms: ARRIVES_WITHIN_MS, endpoint: this.#driver.endpoint }, output).catch(
      () => undefined,
    );
  }

  #onMessage(channel: string, message: string): void {
    if (channel === this.#settings.inbox) {
      this.#isDeaf = false;
      this.#onSaid?.();
    }
    for (const { onMessage } of [...(this.#listeners.get(channel) ?? [])]) onMessage(message);
  }

  async #receive(channel: string, wire: Wire): Promise<void> {
    try {
      await this.#request(wire, `listen "${channel}"`);
    } catch {
      // Ignores the error of a broken connection: the connection that replaces it will listen to this channel
      // too.
      return;
    }
    const listeners = this.#listeners.get(channel);
    if (wire !== this.#wire || !listeners) return;
    this.#subscribed.add(channel);
    for (const { onReady } of [...listeners]) onReady();
  }

  async #request(
    wire: Wire,
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Record<string, unknown>[]> {
    try {
      return await this.#within(wire.query(text, values));
    } catch (error) {
      if (breaksConnection(error)) this.#lost(wire);
      throw error;
    }
  }

  #within<T>(response: Promise<T>): Promise<T> {
    const { clock, withinMs: ms } = this.#settings;
    return within({ clock, ms, endpoint: this.#driver.endpoint, isConnected: true }, response);
  }

  #lost(wire: Wire): void {
    if (wire !== this.#wire) return;
    this.#wire = undefined;
    this.#subscribed.clear();
    wire.release(true);
    if (this.#isClosed) return;
    this.#opener.broke();
    this.#settings.onDown();
    // Lets observers read again, because they may miss changes until another connection is open.
    this.alert();
    this.#keep();
  }

  /** Tries to open the connection again and again, until it is open or the listener is closed. */
  #keep(): void {
    this.up().catch(() => {
      if (!this.#isClosed) this.#keep();
    });
  }
}
