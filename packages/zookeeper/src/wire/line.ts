import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { withJitter } from '@queuelock/core/backend';
import { Calls, type Answer, type CallOption, type Carrier } from '../driver/calls.ts';
import type { ConnectionNews } from '../driver/driver.ts';
import { AUTH_FAILED_STATE, ZkCode, sessionAbandoned, sessionEnded } from '../driver/errors.ts';
import { attemptMsOf, callTimeoutOf } from '../base/patience.ts';
import { NOWHERE } from '../driver/quorum.ts';
import { Rota } from '../base/rota.ts';
import { ReplaySubject, Subject, type Observable } from '../base/rx.ts';
import type { Welcome } from './handshake.ts';
import type { LineOptions } from './line-options.ts';
import { WireLink } from './link.ts';
import { remove } from './node-requests.ts';
import { Xid } from './op-code.ts';
import type { WireRequest } from './request.ts';
import { SeenSession } from './seen-session.ts';
import { keyOf } from './session-key.ts';
import { addAuth, closeSession } from './session-requests.ts';
import { WireError } from './wire-error.ts';

/** Where a line is, with what belongs to that and to nothing else. */
type State =
  | { readonly status: 'pausing'; readonly timer: NodeJS.Timeout }
  | { readonly status: 'connecting'; readonly link: WireLink }
  | { readonly status: 'connected'; readonly link: WireLink; readonly since: number }
  | { readonly status: 'ended'; readonly with: number };

// Longer than a healthy server takes; after it the socket is dropped, and the server does the rest if it wakes up.
const CLOSE_WITHIN_MS = 1_000;
const CLOSED_HERE = 0;

/**
 * The way of one session to the server: one connection after the other, each to the next server, going on with the session and
 * with what it has seen. An attempt that does not connect soon makes way for the next.
 */
export class WireLine {
  readonly #options: LineOptions;
  readonly #calls: Calls<WireLink>;
  readonly #connection$ = new Subject<ConnectionNews>();
  readonly #ended$ = new ReplaySubject<never>(1);
  readonly #rota: Rota;
  readonly #seen: SeenSession;
  #state: State;
  #closing: Promise<void> | undefined;

  /** Begins to connect. */
  constructor(options: LineOptions) {
    this.#options = options;
    this.#calls = new Calls(callTimeoutOf(options.ttlMs));
    this.#rota = new Rota(options.clock);
    this.#seen = new SeenSession(options);
    this.#state = this.#attempt();
  }

  get connection$(): Observable<ConnectionNews> {
    return this.#connection$;
  }

  get ended$(): Observable<never> {
    return this.#ended$;
  }

  /** The state that the session ended with, 0 if it was closed here. */
  get endedWith(): number | undefined {
    return this.#state.status === 'ended' ? this.#state.with : undefined;
  }

  get seen(): Readonly<Pick<SeenSession, 'key' | 'timeoutMs' | 'begunAt'>> {
    return this.#seen;
  }

  call<T>(what: string, request: WireRequest<T>, option?: CallOption): Promise<Answer<[T]>> {
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

  /** The server has said so in an answer, before it drops the connection. */
  noteExpired(): void {
    this.#end(ZkCode.sessionExpired);
  }

  /** Ends the session. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** After all calls before it. Without a connection the session timeout does it. */
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

  /** Leaves the session to its timeout or to somebody else. Never rejects. */
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
    const { addresses, dial, tls, ttlMs, pace, clock, onChange } = this.#options;
    pace.attempted();
    this.#seen.begin();
    const link: WireLink = new WireLink(
      {
        address: this.#rota.next(addresses()),
        dial,
        tls: tls?.latest,
        hello: this.#seen.hello(),
        withinMs: withJitter(attemptMsOf(ttlMs), clock),
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
    const { pace, tls } = this.#options;
    const attempt = (): void => {
      if (this.#state === pausing) this.#state = this.#attempt();
    };
    const timer = setTimeout(() => {
      if (!tls || tls.isFixed) attempt();
      else tls.next().then(attempt, attempt);
    }, pace.pauseMs);
    const pausing: State = { status: 'pausing', timer };
    return pausing;
  }

  #onWelcome(link: WireLink, welcome: Welcome): void {
    if (welcome.timeoutMs <= 0) {
      this.#end(ZkCode.sessionExpired);
      return;
    }
    if (welcome.isReadOnly) {
      link.destroy(new WireError('the server takes no writes'));
      return;
    }
    const { auth, clock } = this.#options;
    // Wrong credentials are no error here: the server only finds that such a one may do nothing.
    if (auth) link.tell(addAuth('digest', Buffer.from(`${auth.username}:${auth.password}`)), Xid.auth);
    if (this.#seen.isBlind) link.ask(remove(NOWHERE, -1), () => undefined);
    this.#seen.welcome(keyOf(welcome.session), welcome.timeoutMs);
    this.#state = { status: 'connected', link, since: clock.now() };
    this.#calls.carryBy(carrierOf(link));
    this.#connection$.next({ status: 'back' });
  }

  #onLost(link: WireLink, failure: Error): void {
    const before = this.#state;
    const { pace, clock, onFailure } = this.#options;
    if (before.status === 'ended') return;
    if (before.status === 'connected') {
      const at = clock.now();
      this.#calls.park();
      this.#seen.lost(link.lastZxid, at);
      pace.broke(at - before.since);
      this.#state = this.#pause();
      this.#connection$.next({ status: 'lost', at });
    } else {
      pace.failed({ again: false });
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

  /** Nothing is left of it: no socket and no timer. */
  #leave(state: number): void {
    const before = this.#state;
    this.#state = { status: 'ended', with: state };
    if (before.status === 'pausing') clearTimeout(before.timer);
    else if (before.status !== 'ended') before.link.destroy(new WireError('the connection was closed here'));
  }
}

function carrierOf(link: WireLink): Carrier<WireLink> {
  return { send: (request) => request(link) };
}
