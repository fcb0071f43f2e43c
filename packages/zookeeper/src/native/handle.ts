import type { Clock } from '@queuelock/core/backend';
import type { RequestSender } from '../driver/calls.ts';
import type { NodeChange, SessionKey } from '../driver/driver.ts';
import { requireAddon, type NativeCalls, type NativeClient, type NativeConfig } from './addon.ts';

/** A listener for the events of one handle of the C client. */
export interface HandleListener {
  connected(): void;
  /** Called when the connection is down. The call may come before the method `send` of the handle returns. */
  broken(): void;
  /**
   * Called after `broken`, but never before a running call of the handle's method `send` returns. `at` is the
   * time at which the handle noticed that the connection was down. Every later connection attempt starts
   * after that time.
   */
  lost(at: number): void;
  /** Called when the server has ended the session. State -112 means that it expired, -113 that the credentials were refused. */
  ended(state: number): void;
  changed(path: string, change: NodeChange): void;
}

// The name of an authentication scheme that no server supports. A request with it makes the server drop the
// connection.
const NO_SCHEME = 'queuelock-leaves';
const CONNECTED_STATE = 3;
const DEAD_STATE = 0;
const CHANGES = ['created', 'deleted', 'changed', 'child'] as const;

/**
 * One handle (connection object) of the C client, used for one connection only. A handle could reconnect by itself, but that is prevented for three
 * reasons:
 *
 * - When a request meets a reset connection, the C client closes its socket silently. The package waits for events of that socket and notices only
 *   after up to a third of the session timeout. Until then, any new socket of this process with the same number gets no events, and another handle
 *   that gets the number aborts the process. So the state is read after each request, and a broken handle is closed before any other socket can be
 *   opened.
 * - When connecting fails at once (no route, loopback), the handle never connects again, or causes the first problem as well.
 * - The C client has no delay between the hosts of its list. After the last host it waits for a third of the session timeout, or not at all if the
 *   number of hosts is even. So each handle gets only one host: it connects once, and a second time if that fails.
 *
 * Native callbacks only call `setImmediate` and read the clock. A socket that is opened in such a callback may never connect. Opening or closing a
 * handle in it aborts the process.
 */
export class NativeHandle implements RequestSender<NativeCalls> {
  readonly #native: NativeClient;
  readonly #clock: Clock;
  #listener: HandleListener | undefined;
  #isConnected = false;

  constructor(config: NativeConfig, clock: Clock, listener: HandleListener) {
    const Native = requireAddon();
    const native = new Native();
    this.#native = native;
    this.#clock = clock;
    this.#listener = listener;
    native.on('connect', () => setImmediate(() => this.#onConnected()));
    native.on('connecting', () => {
      const at = clock.now();
      setImmediate(() => this.#onBroken(at));
    });
    native.on('close', (_self, state) => setImmediate(() => this.#onClosed(state)));
    for (const change of CHANGES) {
      native.on(change, (_self, path) => setImmediate(() => this.#listener?.changed(path, change)));
    }
    native.init(config);
  }

  /** Whether connecting has failed at once. Such a handle will never connect. */
  get isDead(): boolean {
    return this.#native.state === DEAD_STATE;
  }

  get session(): SessionKey {
    const { client_id, client_password } = this.#native;
    return { client_id, client_password };
  }

  get timeoutMs(): number {
    return this.#native.timeout;
  }

  get isClosed(): boolean {
    return this.#listener === undefined;
  }

  /** Sends a request. Returns 0, or the result code when the addon refused it. Must not be called in a native callback. */
  send(request: (native: NativeCalls) => number): number {
    const code = request(this.#native.native);
    const listener = this.#listener;
    if (this.#isConnected && listener && this.abandon()) {
      const at = this.#clock.now();
      listener.broken();
      setImmediate(() => listener.lost(at));
    }
    return code;
  }

  /**
   * Closes the handle unless it is connected. The session continues, and pending requests fail. Must not be called in a native callback.
   * @returns whether the handle is closed
   */
  abandon(): boolean {
    if (this.#native.state !== CONNECTED_STATE) this.end();
    return this.isClosed;
  }

  /**
   * Closes the handle and, if it is connected, the session. That blocks the event loop until the server responds, for up to 4.5 s. Must not
   * be called in a native callback.
   */
  end(): void {
    if (this.isClosed) return;
    this.#listener = undefined;
    this.#native.close();
  }

  /**
   * Closes the handle without ending the session. A connected handle cannot be closed like that, so this makes the server drop the
   * connection: it requests an authentication scheme that no server supports. After all earlier requests, the server drops the connection
   * and keeps the session. Then `ended` or `lost` is called. The package sends such a request only together with the next one, so a `sync`
   * follows.
   */
  leave(): void {
    if (this.abandon()) return;
    this.#native.native.add_auth(NO_SCHEME, '', () => undefined);
    this.send((native) => native.a_sync('/', () => undefined));
  }

  #onConnected(): void {
    this.#isConnected = true;
    this.#listener?.connected();
  }

  #onBroken(at: number): void {
    const listener = this.#listener;
    // Closes the handle. If the process was very busy, the handle may have reconnected by itself before it
    // could be closed.
    this.abandon();
    listener?.broken();
    listener?.lost(at);
  }

  #onClosed(state: number): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.ended(state);
  }
}
