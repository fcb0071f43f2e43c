import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@queuelock/core/backend';
import { Calls, type Answer, type CallOption, type Request } from './calls.ts';
import type { ConnectionNews, NodeChange, SessionKey } from './driver.ts';
import { sessionAbandoned, sessionEnded } from './errors.ts';
import { NativeHandle } from './handle.ts';
import { SpentNumbers } from './spent-numbers.ts';
import type { NativeConfig } from './native.ts';
import { probe } from './probe.ts';
import { ReplaySubject, Subject, lastValueFrom, type Observable } from './rx.ts';

/** What a line needs to connect. */
export interface LineOptions {
  /** `address:port` each, at least one; asked for at each attempt. */
  readonly addresses: () => readonly string[];
  /** An attempt failed. */
  readonly onFailure: () => void;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
  readonly ttlMs: number;
  /** To go on with a session that there is. */
  readonly session?: SessionKey | undefined;
  readonly clock: Clock;
  readonly onChange: (path: string, change: NodeChange) => void;
}

// After the last host of its list the C client waits a third of the session timeout before it tries the first again.
const ROUNDS_WITHOUT_PAUSE = 4;
const AFTER_DEAD_ATTEMPT_MS = 200;
// Longer than a healthy server takes; what is not closed by then is closed in the background.
const CLOSE_WITHIN_MS = 1_000;

/**
 * The way of one session to the server: one handle after the other, each for one connection, the next going on with the
 * session of the one before. An attempt that does not connect soon makes way for the next, which begins at another host.
 */
export class Line {
  readonly #options: LineOptions;
  readonly #calls: Calls;
  readonly #connection$ = new Subject<ConnectionNews>();
  readonly #ended$ = new ReplaySubject<never>(1);
  #handle: NativeHandle | undefined;
  #session: SessionKey | undefined;
  #isAbandoned = false;
  #isUp = false;
  #nextAttempt: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  readonly #spentNumbers = new SpentNumbers();
  #begunAt = 0;
  #timeoutMs = 0;
  #endedWith: number | undefined;

  /** Begins to connect. */
  constructor(options: LineOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#calls = new Calls(callTimeoutOf(options.ttlMs));
    this.#attempt();
  }

  get connection$(): Observable<ConnectionNews> {
    return this.#connection$;
  }

  get ended$(): Observable<never> {
    return this.#ended$;
  }

  /** The state that the session ended with, 0 if it was closed here. */
  get endedWith(): number | undefined {
    return this.#endedWith;
  }

  /** All zeroes before it was connected. */
  get session(): SessionKey {
    return this.#session ?? { client_id: '0', client_password: '0'.repeat(32) };
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** When the attempt that made or resumed the session began. */
  get begunAt(): number {
    return this.#begunAt;
  }

  call<V extends unknown[]>(what: string, request: Request<V>, option?: CallOption): Promise<Answer<V>> {
    return this.#calls.issue(what, request, option);
  }

  /** Ends the session. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= Promise.race([this.#close(), pause(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    return this.#closing;
  }

  /**
   * Closing a connected handle blocks the event loop until the server has answered, for up to 4.5 s. So it is asked
   * first whether it answers at all (`sync` goes as far as the leader), and closed when it has or when the connection
   * is down, where closing does not block and the session timeout does the rest.
   */
  async #close(): Promise<void> {
    do await nextTurn();
    while (this.#isUp && !(await this.#answers()));
    this.#end(0);
  }

  async #answers(): Promise<boolean> {
    return this.call('sync', sync).then(
      ({ code }) => code === 0,
      () => false,
    );
  }

  /** Leaves the session to its timeout or to somebody else. Never rejects. */
  abandon(): Promise<void> {
    this.#closing ??= Promise.race([this.#abandon(), pause(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    return this.#closing;
  }

  async #abandon(): Promise<void> {
    await nextTurn();
    if (this.#endedWith !== undefined) return;
    this.#isAbandoned = true;
    this.#calls.end(sessionAbandoned(this.session.client_id));
    this.#handle?.leave();
    if (!this.#handle || this.#handle.isClosed) this.#end(0);
    await lastValueFrom(this.#ended$, { defaultValue: undefined });
  }

  #attempt(): void {
    const { addresses, onFailure, ttlMs } = this.#options;
    void probe(addresses(), attemptMsOf(ttlMs) / 2).then((reach) => {
      if (this.#endedWith !== undefined) return;
      if (reach === 'accepts') {
        this.#begin();
        return;
      }
      if (reach === 'silent') this.#spentNumbers.spend();
      onFailure();
      this.#nextAttempt = setTimeout(() => this.#attempt(), jittered(AFTER_DEAD_ATTEMPT_MS));
    });
  }

  #begin(): void {
    const { clock, auth, onChange } = this.#options;
    if (this.#timeoutMs === 0) this.#begunAt = clock.now();
    const handle = new NativeHandle(this.#config(), clock, {
      connected: () => this.#onConnected(handle),
      broken: () => this.#onBroken(),
      lost: (at) => this.#onLost(at),
      ended: (state) => this.#end(state),
      changed: onChange,
    });
    this.#handle = handle;
    // Wrong credentials are no error here: the server only finds that such a one may do nothing.
    if (auth)
      handle.send((native) =>
        native.add_auth('digest', `${auth.username}:${auth.password}`, () => undefined),
      );
    const waitMs = handle.isDead ? AFTER_DEAD_ATTEMPT_MS : attemptMsOf(this.#options.ttlMs);
    this.#nextAttempt = setTimeout(() => this.#attemptAgain(handle), jittered(waitMs));
  }

  #attemptAgain(handle: NativeHandle): void {
    if (!handle.abandon()) return;
    this.#spentNumbers.spend();
    this.#options.onFailure();
    this.#attempt();
  }

  #config(): NativeConfig {
    const { addresses, ttlMs } = this.#options;
    return {
      connect: Array.from({ length: ROUNDS_WITHOUT_PAUSE }, () => addresses().join(',')).join(','),
      timeout: Math.round(ttlMs),
      debug_level: 0,
      host_order_deterministic: false,
      // By default the package ends the session when an answer comes in more than ten pieces.
      response_counter_limit: 1_000_000_000,
      ...this.#session,
    };
  }

  #onConnected(handle: NativeHandle): void {
    clearTimeout(this.#nextAttempt);
    // The C client would refuse a server that is behind what it has seen; a new handle has seen nothing. With a sync in
    // front, whatever is read from here on is no older than what the connection before has shown.
    if (this.#session) handle.send((native) => sync(native, () => undefined));
    this.#session = handle.session;
    this.#timeoutMs = handle.timeoutMs;
    this.#isUp = true;
    this.#calls.carryBy(handle);
    this.#connection$.next({ status: 'back' });
  }

  #onBroken(): void {
    this.#isUp = false;
    this.#calls.park();
  }

  #onLost(at: number): void {
    if (this.#endedWith !== undefined) return;
    this.#connection$.next({ status: 'lost', at });
    if (this.#isAbandoned) this.#end(0);
    else if (!this.#closing && this.#handle?.isClosed) this.#attempt();
  }

  #end(state: number): void {
    if (this.#endedWith !== undefined) return;
    this.#endedWith = state;
    this.#isUp = false;
    clearTimeout(this.#nextAttempt);
    const error = sessionEnded(state);
    this.#calls.end(error);
    this.#handle?.end();
    this.#spentNumbers.release();
    if (this.#isAbandoned) this.#ended$.complete();
    else this.#ended$.error(error);
    this.#connection$.complete();
  }
}

const sync: Request<[string]> = (native, done) => native.a_sync('/', done);

/** Long enough for a busy server, short enough that several calls fit into a session. */
function callTimeoutOf(ttlMs: number): number {
  return Math.min(5_000, Math.max(1_000, ttlMs / 2));
}

/** So that three or four attempts fit into a session. */
function attemptMsOf(ttlMs: number): number {
  return Math.min(3_000, Math.max(1_000, ttlMs / 6));
}

function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
