import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { DeadlineQueue, withJitter } from '@queuelock/core/backend';
import { Calls, type Reply, type CallOption, type RequestSender } from '../driver/calls.ts';
import type { ConnectionEvent } from '../driver/driver.ts';
import { AUTH_FAILED_STATE, ZkCode, sessionAbandoned, sessionEnded } from '../driver/errors.ts';
import { connectTimeoutOf, callTimeoutOf } from '../base/timeouts.ts';
import { MISSING_PATH } from '../driver/quorum.ts';
import { ServerRotation } from '../base/server-rotation.ts';
import { ReplaySubject, Subject, type Observable } from '../base/rx.ts';
import type { Welcome } from './handshake.ts';
import type { WireConnectionOptions } from './connection-options.ts';
import { WireLink } from './link.ts';
import { remove } from './node-requests.ts';
import { Xid } from './op-code.ts';
import type { WireRequest } from './request.ts';
import { SeenSession } from './seen-session.ts';
import { keyOf } from './session-key.ts';
import { addAuth, closeSession } from './session-requests.ts';
import { WireError } from './wire-error.ts';

/** The state of the connections, with the data that belongs to each state. */
type State =
  | { readonly status: 'pausing'; readonly timer: NodeJS.Timeout }
  | { readonly status: 'connecting'; readonly link: WireLink }
  | { readonly status: 'connected'; readonly link: WireLink; readonly since: number }
  | { readonly status: 'ended'; readonly with: number };

// Time limit for closing a session, in milliseconds. A server that works sends its reply earlier than that.
// At the limit, the client drops the socket, and the session ends by its timeout.
const CLOSE_WITHIN_MS = 1_000;
const CLOSED_HERE = 0;

/**
 * The connections of one session over Node's sockets: one after another, each to the next server. Each
 * connection resumes the session and sends the id of the last transaction that the session has seen. An
 * attempt that takes too long is abandoned for the next server.
 */
export class WireConnections {
  readonly #options: WireConnectionOptions;
  readonly #calls: Calls<WireLink>;
  readonly #connection$ = new Subject<ConnectionEvent>();
  readonly #ended$ = new ReplaySubject<never>(1);
  readonly #rotation: ServerRotation;
  readonly #seen: SeenSession;
  #state: State;
  #closing: Promise<void> | undefined;

  /** Starts to connect to one of the servers. */
  constructor(options: WireConnectionOptions) {
    this.#options = options;
    this.#calls = new Calls(new DeadlineQueue(callTimeoutOf(options.ttlMs), options.clock));
    this.#rotation = new ServerRotation(options.clock);
    this.#seen = new SeenSession(options);
    this.#state = this.#attempt();
  }

  get connection$(): Observable<ConnectionEvent> {
    return this.#connection$;
  }

  get ended$(): Observable<never> {
    return this.#ended$;
  }

  /**
   * The state with which the session has ended: a number of the C client, or 0 if this client has closed it.
   */
  get endedWith(): number | undefined {
    return this.#state.status === 'ended' ? this.#state.with : undefined;
  }

  get seen(): Readonly<Pick<SeenSession, 'key' | 'timeoutMs' | 'begunAt'>> {
    return this.#seen;
  }

  call<T>(what: string, request: WireRequest<T>, option?: CallOption): Promise<Reply<[T]>> {
    return this.#calls.issue<[T]>(
      what,
      (link, done) => {
        link.ask(request, (code, ...values) => {
          done(code, '', ...(values as [T]));
        });
        return 0;
      },
      option,
    );
  }

  /** Ends the session after a reply reported that it has expired. The server drops the connection later. */
  noteExpired(): void {
    this.#end(ZkCode.sessionExpired);
  }

  /** Ends the session. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * Sends the request to end the session after all earlier requests. Without a connection, the session ends
   * by its timeout.
   */
  async #close(): Promise<void> {
    await nextTurn();
    if (this.#state.status === 'connected') {
      const answered = this.call('close', closeSession()).catch(() => undefined);
      await Promise.race([answered, pause(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    }
    const link = this.#link;
    this.#end(CLOSED_HERE);
    await link?.closed;
  }

  /** Disconnects without ending the session. Never rejects. */
  abandon(): Promise<void> {
    this.#closing ??= this.#abandon();
    return this.#closing;
  }

  async #abandon(): Promise<void> {
    await nextTurn();
    if (this.#state.status === 'ended') return;
    const link = this.#link;
    this.#calls.end(sessionAbandoned(this.#seen.key.client_id));
    this.#leave(CLOSED_HERE);
    this.#ended$.complete();
    this.#connection$.complete();
    await link?.closed;
  }

  get #link(): WireLink | undefined {
    return 'link' in this.#state ? this.#state.link : undefined;
  }

  #attempt(): State {
    const { addresses, dial, tls, ttlMs, pacer, clock, onChange } = this.#options;
    pacer.recordAttempt();
    this.#seen.begin();
    const link: WireLink = new WireLink(
      {
        address: this.#rotation.next(addresses()),
        dial,
        tls: tls?.latest,
        hello: this.#seen.hello(),
        withinMs: withJitter(connectTimeoutOf(ttlMs), clock),
        clock,
      },
      {
        welcomed: (welcome) => this.#onWelcome(link, welcome),
        changed: onChange,
        refused: () => this.#end(AUTH_FAILED_STATE),
        lost: (failure) => this.#onLost(link, failure),
      },
    );
    return { status: 'connecting', link };
  }

  #pause(): State {
    const { pacer, tls } = this.#options;
    const attempt = (): void => {
      if (this.#state === pausing) this.#state = this.#attempt();
    };
    const timer = setTimeout(() => {
      if (!tls || tls.isFixed) attempt();
      else tls.next().then(attempt, attempt);
    }, pacer.delayMs);
    const pausing: State = { status: 'pausing', timer };
    return pausing;
  }

  #onWelcome(link: WireLink, welcome: Welcome): void {
    if (welcome.timeoutMs <= 0) {
      this.#end(ZkCode.sessionExpired);
      return;
    }
    if (welcome.isReadOnly) {
      link.destroy(new WireError('the server accepts no writes'));
      return;
    }
    const { auth, clock } = this.#options;
    // The server reports wrong credentials only later: each request then fails with `ACCESS_DENIED`.
    if (auth) link.tell(addAuth('digest', Buffer.from(`${auth.username}:${auth.password}`)), Xid.auth);
    if (this.#seen.isBlind) link.ask(remove(MISSING_PATH, -1), () => undefined);
    this.#seen.welcome(keyOf(welcome.session), welcome.timeoutMs);
    this.#state = { status: 'connected', link, since: clock.now() };
    this.#calls.sendBy(carrierOf(link));
    this.#connection$.next({ status: 'back' });
  }

  #onLost(link: WireLink, failure: Error): void {
    const before = this.#state;
    const { pacer, clock, onFailure } = this.#options;
    if (before.status === 'ended') return;
    if (before.status === 'connected') {
      const at = clock.now();
      this.#calls.park();
      this.#seen.lost(link.lastZxid, at);
      pacer.recordBreak(at - before.since);
      this.#state = this.#pause();
      this.#connection$.next({ status: 'lost', at });
    } else {
      pacer.recordFailure({ again: false });
      onFailure(failure);
      this.#state = this.#pause();
    }
  }

  #end(state: number): void {
    if (this.#state.status === 'ended') return;
    const error = sessionEnded(state);
    this.#calls.end(error);
    this.#leave(state);
    this.#ended$.error(error);
    this.#connection$.complete();
  }

  /**
   * Closes the socket, or cancels the next connection attempt, for good. `state` is why the session has
   * ended.
   */
  #leave(state: number): void {
    const before = this.#state;
    this.#state = { status: 'ended', with: state };
    if (before.status === 'pausing') clearTimeout(before.timer);
    else if (before.status !== 'ended') before.link.destroy(new WireError('the connection was closed here'));
  }
}

function carrierOf(link: WireLink): RequestSender<WireLink> {
  return { send: (request) => request(link) };
}
