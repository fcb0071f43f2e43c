import { setTimeout as pause } from 'node:timers/promises';
import { QueueLockError, type Clock } from '@queuelock/core/backend';
import { Calls, type Answer, type Send } from './calls.ts';
import type {
  ConnectionNews,
  Created,
  NodeChange,
  NodeData,
  NodeMode,
  NodeStat,
  WatchOption,
  ZkDriver,
} from './driver.ts';
import { ZkCode, errorOf, sessionEnded } from './errors.ts';
import { NATIVE_MODE, type NativeClient, type NativeStat } from './native.ts';
import { Routes, type ChildChange } from './routes.ts';
import { ReplaySubject, Subject, type Observable } from './rx.ts';
import { WatchLedger } from './watch-ledger.ts';

const ANY_VERSION = -1;
// Longer than a healthy server takes; what is not closed by then is closed in the background.
const CLOSE_WITHIN_MS = 1_000;
const CHANGES = ['created', 'deleted', 'changed', 'child'] as const;

/**
 * The driver over the npm package `zookeeper`, which wraps the C client.
 *
 * Nothing runs inside a native callback but `setImmediate` and a look at the clock: at that time the C client may have
 * closed its socket while libuv still watches the number, so a socket opened there never connects, and a handle opened
 * or closed there aborts the process. A function given to one handle must never be given to another one (it aborts,
 * too): each call gets a closure of its own. What the package says of its state is never asked for, it lags behind.
 */
export class NativeDriver implements ZkDriver {
  readonly begunAt: number;
  readonly #connection$ = new Subject<ConnectionNews>();
  readonly #ended$ = new ReplaySubject<never>(1);
  readonly #native: NativeClient;
  readonly #calls: Calls;
  readonly #watches = new WatchLedger();
  readonly #changes = new Routes<NodeChange>();
  readonly #changesBelow = new Routes<ChildChange>();
  /** The state that the handle was closed with. */
  endedWith: number | undefined;
  #connected = false;
  #closing: Promise<void> | undefined;

  /** Listens to a client that is about to be initialised. */
  constructor(native: NativeClient, clock: Clock, callTimeoutMs: number) {
    this.#native = native;
    this.#calls = new Calls(callTimeoutMs);
    this.begunAt = clock.now();
    native.on('connect', () => setImmediate(() => this.#onConnect()));
    native.on('connecting', () => {
      const at = clock.now();
      setImmediate(() => this.#onDisconnect(at));
    });
    native.on('close', (_self, state) => setImmediate(() => this.#onClose(state)));
    for (const change of CHANGES) {
      native.on(change, (_self, path) => setImmediate(() => this.#onChange(path, change)));
    }
  }

  get sessionId(): string {
    return this.#native.client_id;
  }

  get timeoutMs(): number {
    return this.#native.timeout;
  }

  get connection$(): Observable<ConnectionNews> {
    return this.#connection$;
  }

  get ended$(): Observable<never> {
    return this.#ended$;
  }

  get hasRoomForWatches(): boolean {
    return this.#watches.hasRoom;
  }

  changes(path: string): Observable<NodeChange> {
    return this.#changes.of(path);
  }

  changesBelow(path: string): Observable<ChildChange> {
    return this.#changesBelow.of(path);
  }

  /** Proves who we are. A wrong password is no error here: the server only finds that the identity may do nothing. */
  async authenticate(username: string, password: string): Promise<void> {
    const secret = `${username}:${password}`;
    await this.#ask('authentication', (done) => this.#native.add_auth('digest', secret, done));
  }

  async create(path: string, text: string, mode: NodeMode): Promise<Created> {
    const what = `create ${path}`;
    const { code, values } = await this.#calls.issue<[string]>(what, (done) =>
      this.#native.a_create(path, Buffer.from(text), NATIVE_MODE[mode], done),
    );
    if (code === ZkCode.noNode) return { path: undefined, reason: 'no-parent' };
    if (code === ZkCode.nodeExists) return { path: undefined, reason: 'exists' };
    if (code !== ZkCode.ok) throw errorOf(code, what);
    return { path: values[0] };
  }

  async delete(path: string): Promise<boolean> {
    return (
      (await this.#ask(`delete ${path}`, (done) => this.#native.a_delete_(path, ANY_VERSION, done))) !==
      undefined
    );
  }

  async write(path: string, text: string): Promise<boolean> {
    const send: Send<[NativeStat]> = (done) => this.#native.a_set(path, Buffer.from(text), ANY_VERSION, done);
    return (await this.#ask(`write ${path}`, send)) !== undefined;
  }

  async read(path: string, { watch = false }: WatchOption = {}): Promise<NodeData | undefined> {
    const send: Send<[NativeStat, Buffer | null]> = (done) => this.#native.a_get(path, watch, done);
    const found = await this.#ask(`read ${path}`, send);
    if (watch && found) this.#watches.set(path, 'data');
    return found && { ...statOf(found[0]), text: found[1]?.toString() ?? '' };
  }

  async stat(path: string, { watch = false }: WatchOption = {}): Promise<NodeStat | undefined> {
    const send: Send<[NativeStat]> = (done) => this.#native.a_exists(path, watch, done);
    const found = await this.#ask(`look at ${path}`, send);
    if (watch) this.#watches.set(path, 'data');
    return found && statOf(found[0]);
  }

  async children(path: string, { watch = false }: WatchOption = {}): Promise<readonly string[] | undefined> {
    const send: Send<[string[]]> = (done) => this.#native.a_get_children(path, watch, done);
    const found = await this.#ask(`list ${path}`, send);
    if (watch && found) this.#watches.set(path, 'children');
    return found?.[0];
  }

  async sync(): Promise<void> {
    await this.#ask<[string]>('sync', (done) => this.#native.a_sync('/', done));
  }

  close(): Promise<void> {
    this.#closing ??= Promise.race([
      this.#closeWhenAnswered(),
      pause(CLOSE_WITHIN_MS, undefined, { ref: false }),
    ]);
    return this.#closing;
  }

  /**
   * Closing a connected handle blocks the event loop until the server has answered, for up to 4.5 s. So it is asked
   * first whether it answers at all (`sync` goes as far as the leader), and closed when it has or when the connection
   * is down, where closing does not block and the session timeout does the rest.
   */
  async #closeWhenAnswered(): Promise<void> {
    while (this.#connected && !(await this.#answers())) continue;
    await new Promise<void>((resolve) => {
      this.#ended$.subscribe({ error: () => resolve() });
      setImmediate(() => this.#native.close());
    });
  }

  async #answers(): Promise<boolean> {
    return this.sync().then(
      () => true,
      () => false,
    );
  }

  /** The values, or nothing when there is no such node. */
  async #ask<V extends unknown[]>(what: string, send: Send<V>): Promise<V | undefined> {
    const { code, values }: Answer<V> = await this.#calls.issue(what, send);
    if (code === ZkCode.noNode) return undefined;
    if (code !== ZkCode.ok) throw errorOf(code, what);
    return values;
  }

  #onConnect(): void {
    this.#connected = true;
    this.#connection$.next({ status: 'back' });
  }

  #onDisconnect(at: number): void {
    this.#connected = false;
    this.#connection$.next({ status: 'lost', at });
  }

  #onClose(state: number): void {
    this.#connected = false;
    this.endedWith = state;
    const error = sessionEnded(state);
    this.#calls.end(error);
    this.#ended$.error(error);
    this.#connection$.complete();
  }

  #onChange(path: string, change: NodeChange): void {
    this.#watches.fired(path, change);
    this.#changes.tell(path, change);
    const slash = path.lastIndexOf('/');
    this.#changesBelow.tell(path.slice(0, slash), { name: path.slice(slash + 1), change });
  }
}

function statOf({ czxid, ephemeralOwner }: NativeStat): NodeStat {
  if (Number.isSafeInteger(czxid)) return { czxid: BigInt(czxid), ephemeralOwner };
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the npm package zookeeper rounds the transaction id ${czxid}`,
  );
}
