import type { Clock } from '@queuelock/core/backend';
import type { Carrier } from '../driver/calls.ts';
import type { NodeChange, SessionKey } from '../driver/driver.ts';
import { requireAddon, type NativeCalls, type NativeClient, type NativeConfig } from './addon.ts';

/** What one handle reports; nothing after it was closed. */
export interface HandleListener {
  connected(): void;
  /** The connection is down; may come inside `send`. */
  broken(): void;
  /** Follows `broken`. `at` is on the clock, and no later than the next connection. */
  lost(at: number): void;
  /** The server ended the session: with the state -112 expired, -113 credentials refused. */
  ended(state: number): void;
  changed(path: string, change: NodeChange): void;
}

// No server has this one, see `leave`.
const NO_SCHEME = 'queuelock-leaves';
const CONNECTED_STATE = 3;
const DEAD_STATE = 0;
const CHANGES = ['created', 'deleted', 'changed', 'child'] as const;

/**
 * One handle of the C client, for one connection only. It would reconnect by itself, but that is not left to it:
 *
 * - A request that meets a reset connection makes the C client close its socket without a word, and the package, which
 *   waits for events of that socket, finds out after up to a third of the session timeout. Until then any socket of this
 *   process that gets the same number is deaf, and another handle that gets it aborts the process. So the state is
 *   asked for after each request, and a broken handle is closed before anything else can open a socket.
 * - When connecting fails at once (no route, loopback) the handle is dead for ever or leaves the same trap.
 * - Between the hosts of its list it does not pause, and after the last it waits for a third of the session timeout, or not at all
 *   where their number is even. So a handle gets one host: it connects once, and a second time when that comes to nothing.
 *
 * Nothing runs inside a native callback but `setImmediate` and a look at the clock: a socket opened there may never
 * connect, a handle opened or closed there aborts the process.
 */
export class NativeHandle implements Carrier<NativeCalls> {
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

  /** Whether connecting failed at once, in which case the handle does nothing any more. */
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

  /** Answers 0, or the code that says why the request was not taken. Not to be called inside a native callback. */
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
   * Closes the handle unless it is connected, so that the session goes on; what is pending fails. Answers whether the
   * handle is closed. Not to be called inside a native callback.
   */
  abandon(): boolean {
    if (this.#native.state !== CONNECTED_STATE) this.end();
    return this.isClosed;
  }

  /**
   * Closes the handle, and if it is connected the session, too: that blocks the event loop until the server has
   * answered, for up to 4.5 s. Not to be called inside a native callback.
   */
  end(): void {
    if (this.isClosed) return;
    this.#listener = undefined;
    this.#native.close();
  }

  /**
   * Closes the handle and leaves the session alone. A connected one cannot be closed like that, so the server is made to
   * drop the connection: that is what it does, after all requests before, when it is asked for an authentication that it does
   * not know, and it does not touch the session then. `ended` tells when it has, or `lost`. The package keeps such a
   * request back until another one goes out.
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
    // In a very busy process it may have connected again by itself by now.
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
