// Folder "server": opens connections to the server, runs steps over them, and receives notifications.
// pool.ts (this file) keeps the connections for steps. opener.ts opens them one after another, and pace.ts limits the rate. steps.ts runs
// steps. notification-listener.ts receives notifications.

import { connectionClosed } from '@queuelock/core/backend';
import type { Clock } from '@queuelock/core/backend';
import type { Driver, Wire } from '../driver/driver.ts';
import { asQueueLockError, breaksConnection } from '../driver/errors.ts';
import type { Opener } from './opener.ts';
import { within } from '../base/within.ts';

type Rows = readonly Record<string, unknown>[];

interface Settings {
  readonly clock: Clock;
  readonly withinMs: number;
  /** Maximum number of connections for steps. */
  readonly most: number;
  /**
   * Called when a connection broke. The next connection may lead to another server, or the server may have
   * lost data.
   */
  readonly onDown: () => void;
}

interface Waiting {
  readonly go: (wire: Wire) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The connections for steps. Each runs one step at a time. Further steps wait in the order in which they were
 * called.
 */
export class Pool {
  readonly #driver: Driver;
  readonly #opener: Opener;
  readonly #settings: Settings;
  readonly #line = new Set<Waiting>();
  readonly #wires = new Set<Wire>();
  readonly #idle: Wire[] = [];
  #opening = 0;
  #isClosed = false;

  constructor(driver: Driver, opener: Opener, settings: Settings) {
    this.#driver = driver;
    this.#opener = opener;
    this.#settings = settings;
  }

  /**
   * Runs one statement. The timeout starts when the statement gets a connection. An error that the server
   * reports is thrown unchanged. After any other error, the outcome of the statement is unknown.
   */
  async run(text: string, values?: readonly unknown[]): Promise<Rows> {
    const wire = await this.#wire();
    const { clock, withinMs: ms } = this.#settings;
    const limit = { clock, ms, endpoint: this.#driver.endpoint, isConnected: true };
    try {
      const rows = await within(limit, wire.query(text, values));
      this.#free(wire);
      return rows;
    } catch (error) {
      if (breaksConnection(error)) this.#lost(wire);
      else this.#free(wire);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#giveUp(connectionClosed(this.#driver.endpoint));
    for (const wire of this.#wires) wire.release(!this.#idle.includes(wire));
    this.#wires.clear();
    this.#idle.length = 0;
  }

  #wire(): Promise<Wire> {
    const { endpoint } = this.#driver;
    if (this.#isClosed) return Promise.reject(connectionClosed(endpoint));
    const idle = this.#idle.pop();
    if (idle) return Promise.resolve(idle);
    let waiting: Waiting | undefined;
    const turn = new Promise<Wire>((resolve, reject) => {
      this.#line.add((waiting = { go: resolve, reject }));
    });
    if (this.#wires.size + this.#opening < this.#settings.most) this.#open();
    // If a connection is open, the step waits without a timeout of its own: running steps end by their
    // timeouts and then pass a connection on. Without an open connection, the wait needs a timeout.
    if (this.#wires.size > 0) return turn;
    const { clock, withinMs: ms } = this.#settings;
    const reason = (): string | undefined => this.#driver.exhaustion?.();
    return within({ clock, ms, endpoint, reason }, turn).finally(() => {
      if (waiting) this.#line.delete(waiting);
    });
  }

  #open(): void {
    this.#opening += 1;
    let wire: Wire | undefined;
    let isOver = false;
    const onEnd = (): void => {
      isOver = true;
      if (wire) this.#lost(wire);
    };
    this.#opener.open({ onMessage: () => undefined, onEnd }).then(
      (opened) => {
        this.#opening -= 1;
        wire = opened;
        this.#wires.add(opened);
        if (isOver || this.#isClosed) this.#lost(opened);
        else this.#free(opened);
      },
      (error: unknown) => {
        this.#opening -= 1;
        if (this.#wires.size === 0) this.#giveUp(asQueueLockError(error, this.#driver));
      },
    );
  }

  #free(wire: Wire): void {
    if (!this.#wires.has(wire)) return;
    const [next] = this.#line;
    if (next) {
      this.#line.delete(next);
      next.go(wire);
    } else if (this.#driver.isShared && this.#idle.length > 0) {
      // Keeps one connection of the application's pool. Otherwise a step could wait for a connection while
      // all work of the application waits for a lock.
      this.#wires.delete(wire);
      wire.release(false);
    } else this.#idle.push(wire);
  }

  #lost(wire: Wire): void {
    if (!this.#wires.delete(wire)) return;
    const place = this.#idle.indexOf(wire);
    if (place >= 0) this.#idle.splice(place, 1);
    wire.release(true);
    if (this.#isClosed) return;
    this.#opener.broke();
    this.#settings.onDown();
    if (this.#line.size > 0 && this.#wires.size + this.#opening < this.#settings.most) this.#open();
  }

  /** Rejects all waiting steps, because no connection can be opened. */
  #giveUp(error: unknown): void {
    for (const { reject } of this.#line) reject(error);
    this.#line.clear();
  }
}
