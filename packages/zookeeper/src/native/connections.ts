import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { DeadlineQueue, withJitter, type Clock } from '@queuelock/core/backend';
import { Calls, type Reply, type CallOption, type Request } from '../driver/calls.ts';
import type { ConnectionEvent, NodeChange, SessionKey } from '../driver/driver.ts';
import { ZkCode, sessionAbandoned, sessionEnded } from '../driver/errors.ts';
import { NativeHandle } from './handle.ts';
import { ReservedSockets } from './reserved-sockets.ts';
import type { NativeCalls, NativeConfig } from './addon.ts';
import type { ConnectionPacer } from '../base/connection-pacer.ts';
import { connectTimeoutOf, callTimeoutOf } from '../base/timeouts.ts';
import { MISSING_PATH } from '../driver/quorum.ts';
import { ServerRotation } from '../base/server-rotation.ts';
import { ReplaySubject, Subject, lastValueFrom, type Observable } from '../base/rx.ts';

/** Options of the connections of a session. */
export interface NativeConnectionOptions {
  /** Returns at least one address, as `address:port`. Called for each attempt. */
  readonly addresses: () => readonly string[];
  /** Called when an attempt to connect has failed. */
  readonly onFailure: () => void;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
  readonly ttlMs: number;
  /** The key of an existing session, to resume it. */
  readonly session?: SessionKey | undefined;
  /** Decides when to connect again after a failure. The first attempt is made at once. */
  readonly pacer: ConnectionPacer;
  readonly clock: Clock;
  readonly onChange: (path: string, change: NodeChange) => void;
}

// Polling interval of an attempt in milliseconds, since the C client does not report a failure.
const POLL_INTERVAL_MS = 20;
// Longest time in milliseconds until the promises of `close` and `abandon` resolve. A slower close then continues in the background.
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * The connections of one session over the C client: one handle after another, each for one attempt at one server. Each handle resumes the
 * session of the previous one. An attempt that takes too long is abandoned for the next server. This class limits the pace of attempts. A
 * handle with several servers would connect thousands of times a second, if the servers have no quorum and close each connection.
 */
export class NativeConnections {
  readonly #options: NativeConnectionOptions;
  readonly #calls: Calls<NativeCalls>;
  readonly #connection$ = new Subject<ConnectionEvent>();
  readonly #ended$ = new ReplaySubject<never>(1);
  #handle: NativeHandle | undefined;
  #session: SessionKey | undefined;
  #isAbandoned = false;
  #isUp = false;
  readonly #rotation: ServerRotation;
  #nextAttempt: NodeJS.Timeout | undefined;
  #upSince = 0;
  #closing: Promise<void> | undefined;
  readonly #spentNumbers = new ReservedSockets();
  #startedAt = 0;
  #timeoutMs = 0;
  #endedWith: number | undefined;

  /** Starts to connect to one of the servers. */
  constructor(options: NativeConnectionOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#calls = new Calls(new DeadlineQueue(callTimeoutOf(options.ttlMs), options.clock), setImmediate);
    this.#rotation = new ServerRotation(options.clock);
    this.#attempt();
  }

  get connection$(): Observable<ConnectionEvent> {
    return this.#connection$;
  }

  get ended$(): Observable<never> {
    return this.#ended$;
  }

  /** The state of the C client with which the session has ended; 0 if this client has closed it. */
  get endedWith(): number | undefined {
    return this.#endedWith;
  }

  /** Password of the ZooKeeper session. All zeroes before the first connection. */
  get session(): SessionKey {
    return this.#session ?? { client_id: '0', client_password: '0'.repeat(32) };
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** The start time of the connection attempt that created or resumed the session. */
  get startedAt(): number {
    return this.#startedAt;
  }

  call<V extends unknown[]>(
    what: string,
    request: Request<V, NativeCalls>,
    option?: CallOption,
  ): Promise<Reply<V>> {
    return this.#calls.issue(what, request, option);
  }

  /**
   * Ends the session after a reply reported that it has expired. The server drops the connection later. Must not be called in a native
   * callback.
   */
  noteExpired(): void {
    this.#end(ZkCode.sessionExpired);
  }

  /** Ends the session. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= Promise.race([this.#close(), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    return this.#closing;
  }

  /**
   * Closes the handle. For a connected handle, that would block the event loop for up to 4.5 s, until the server responds. So this method first waits
   * until the server has answered a `sync`, or the connection is down. If the connection is down, the session ends by its timeout.
   */
  async #close(): Promise<void> {
    do await nextTurn();
    while (this.#isUp && !(await this.#responds()));
    this.#end(0);
  }

  async #responds(): Promise<boolean> {
    return this.call('sync', sync).then(
      ({ code }) => code === 0,
      () => false,
    );
  }

  /** Disconnects without ending the session. Never rejects. */
  abandon(): Promise<void> {
    this.#closing ??= Promise.race([this.#abandon(), pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
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

  #attemptLater(): void {
    this.#nextAttempt = setTimeout(() => this.#attempt(), this.#options.pacer.delayMs);
  }

  #attempt(): void {
    const { clock, auth, onChange, pacer, ttlMs } = this.#options;
    pacer.recordAttempt();
    if (this.#timeoutMs === 0) this.#startedAt = clock.now();
    const handle = new NativeHandle(this.#config(), clock, {
      connected: () => this.#onConnected(handle),
      broken: () => this.#onBroken(),
      lost: (at) => this.#onLost(at),
      ended: (state) => this.#end(state),
      changed: onChange,
    });
    this.#handle = handle;
    // The server reports wrong credentials only later: each request then fails with `ACCESS_DENIED`.
    if (auth)
      handle.send((native) =>
        native.add_auth('digest', `${auth.username}:${auth.password}`, () => undefined),
      );
    if (handle.isDead) this.#giveUp(handle, { again: false });
    else this.#await(handle, clock.now() + withJitter(connectTimeoutOf(ttlMs), clock));
  }

  #await(handle: NativeHandle, until: number): void {
    this.#nextAttempt = setTimeout(() => {
      const isSilent = !handle.isDead;
      if (isSilent && this.#options.clock.now() < until) this.#await(handle, until);
      else this.#giveUp(handle, { again: true, isSilent });
    }, POLL_INTERVAL_MS);
  }

  /** Abandons an attempt and starts the next one, unless the attempt has just succeeded. */
  #giveUp(
    handle: NativeHandle,
    { again, isSilent = false }: { readonly again: boolean; readonly isSilent?: boolean },
  ): void {
    if (!handle.abandon()) return;
    if (isSilent) this.#spentNumbers.reserve();
    this.#options.pacer.recordFailure({ again });
    this.#options.onFailure();
    this.#attemptLater();
  }

  #config(): NativeConfig {
    const { addresses, ttlMs } = this.#options;
    return {
      connect: this.#rotation.next(addresses()),
      timeout: Math.round(ttlMs),
      debug_level: 0,
      host_order_deterministic: false,
      // By default, the npm package ends the session when a reply arrives in more than ten pieces. So this sets a limit that no reply reaches.
      response_counter_limit: 1_000_000_000,
      ...this.#session,
    };
  }

  #onConnected(handle: NativeHandle): void {
    clearTimeout(this.#nextAttempt);
    // The server may lack transactions that the session has read. A write through a quorum, sent first, brings the server up to date.
    if (this.#session) handle.send((native) => native.a_delete_(MISSING_PATH, -1, () => undefined));
    this.#session = handle.session;
    this.#timeoutMs = handle.timeoutMs;
    this.#isUp = true;
    this.#upSince = this.#options.clock.now();
    this.#calls.sendBy(handle);
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
    else if (!this.#closing && this.#handle?.isClosed) {
      this.#options.pacer.recordBreak(at - this.#upSince);
      this.#attemptLater();
    }
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

const sync: Request<[string], NativeCalls> = (native, done) => native.a_sync('/', done);
