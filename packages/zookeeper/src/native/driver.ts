// Chapter native: how does the npm package zookeeper send requests?
// The same interface over the C client, with one handle per connection, and workarounds for errors of its binding.

import { QueueLockError } from '@queuelock/core/backend';
import type { CallOption, Request } from '../driver/calls.ts';
import type {
  ConnectionNews,
  Created,
  Listing,
  NodeChange,
  NodeData,
  NodeMode,
  NodeStat,
  SessionKey,
  VersionOption,
  WatchOption,
  ZkDriver,
} from '../driver/driver.ts';
import { ZkCode, errorOf } from '../driver/errors.ts';
import { Line, type LineOptions } from './line.ts';
import { NATIVE_MODE, type NativeCalls, type NativeStat } from './addon.ts';
import { Routes, type ChildChange } from '../driver/routes.ts';
import type { Observable } from '../base/rx.ts';

const ANY_VERSION = -1;

/** The driver over the npm package `zookeeper`, which wraps the C client. */
export class NativeDriver implements ZkDriver {
  readonly #line: Line;
  readonly #changes = new Routes<NodeChange>();
  readonly #changesBelow = new Routes<ChildChange>();

  /** Starts to connect. */
  constructor(options: Omit<LineOptions, 'onChange'>) {
    this.#line = new Line({ ...options, onChange: (path, change) => this.#onChange(path, change) });
  }

  get sessionId(): string {
    return this.#line.session.client_id;
  }

  get sessionKey(): SessionKey {
    return this.#line.session;
  }

  get timeoutMs(): number {
    return this.#line.timeoutMs;
  }

  get begunAt(): number {
    return this.#line.begunAt;
  }

  get connection$(): Observable<ConnectionNews> {
    return this.#line.connection$;
  }

  get ended$(): Observable<never> {
    return this.#line.ended$;
  }

  /** The state that the session ended with; 0 if this client closed it. */
  get endedWith(): number | undefined {
    return this.#line.endedWith;
  }

  changes(path: string): Observable<NodeChange> {
    return this.#changes.of(path);
  }

  changesBelow(path: string): Observable<ChildChange> {
    return this.#changesBelow.of(path);
  }

  async create(path: string, text: string, mode: NodeMode): Promise<Created> {
    const what = `create ${path}`;
    const { code, values } = await this.#line.call<[string]>(what, (native, done) =>
      native.a_create(path, Buffer.from(text), NATIVE_MODE[mode], done),
    );
    if (code === ZkCode.noNode) return { path: undefined, reason: 'no-parent' };
    if (code === ZkCode.nodeExists) return { path: undefined, reason: 'exists' };
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return { path: values[0] };
  }

  async delete(path: string, { version = ANY_VERSION }: VersionOption = {}): Promise<boolean> {
    const found = await this.#ask(`delete ${path}`, (native, done) => native.a_delete_(path, version, done));
    return found !== undefined;
  }

  async write(
    path: string,
    text: string,
    { version = ANY_VERSION, ...option }: CallOption & VersionOption = {},
  ): Promise<NodeStat | undefined> {
    const found = await this.#ask<[NativeStat]>(
      `write ${path}`,
      (native, done) => native.a_set(path, Buffer.from(text), version, done),
      option,
    );
    return found && statOf(found[0]);
  }

  async read(path: string, { watch = false }: WatchOption = {}): Promise<NodeData | undefined> {
    const found = await this.#ask<[NativeStat, Buffer | null]>(`read ${path}`, (native, done) =>
      native.a_get(path, watch, done),
    );
    return found && { ...statOf(found[0]), text: found[1]?.toString() ?? '' };
  }

  async stat(path: string, { watch = false }: WatchOption = {}): Promise<NodeStat | undefined> {
    const found = await this.#ask<[NativeStat]>(`stat ${path}`, (native, done) =>
      native.a_exists(path, watch, done),
    );
    return found && statOf(found[0]);
  }

  async children(path: string, { watch = false }: WatchOption = {}): Promise<readonly string[] | undefined> {
    const found = await this.#ask<[string[]]>(`list ${path}`, (native, done) =>
      native.a_get_children(path, watch, done),
    );
    return found?.[0];
  }

  async list(path: string): Promise<Listing | undefined> {
    const found = await this.#ask<[string[], NativeStat]>(`list ${path}`, (native, done) =>
      native.a_get_children2(path, false, done),
    );
    return found && { children: found[0], stat: statOf(found[1]) };
  }

  async sync(): Promise<void> {
    await this.#ask<[string]>('sync', (native, done) => native.a_sync('/', done));
  }

  close(): Promise<void> {
    return this.#line.close();
  }

  abandon(): Promise<void> {
    return this.#line.abandon();
  }

  /** Resolves with the results, or with `undefined` when the node does not exist or has another version. */
  async #ask<V extends unknown[]>(
    what: string,
    request: Request<V, NativeCalls>,
    option?: CallOption,
  ): Promise<V | undefined> {
    const { code, values } = await this.#line.call(what, request, option);
    if (code === ZkCode.noNode || code === ZkCode.badVersion) return undefined;
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return values;
  }

  /** Ends the session when a reply reports that it has expired, so that all users of the session are notified. */
  #failure(code: number, what: string): Error {
    if (code === ZkCode.sessionExpired) this.#line.noteExpired();
    return errorOf(code, what);
  }

  #onChange(path: string, change: NodeChange): void {
    this.#changes.tell(path, change);
    const slash = path.lastIndexOf('/');
    this.#changesBelow.tell(path.slice(0, slash), { name: path.slice(slash + 1), change });
  }
}

function statOf({ version, cversion, numChildren, ephemeralOwner, ...stat }: NativeStat): NodeStat {
  return {
    czxid: exactly(stat.czxid),
    version,
    childChanges: cversion,
    childCount: numChildren,
    childrenZxid: exactly(stat.pzxid),
    ephemeralOwner,
  };
}

function exactly(zxid: number): bigint {
  if (Number.isSafeInteger(zxid)) return BigInt(zxid);
  throw new QueueLockError('INVALID_ARGUMENT', `the npm package zookeeper rounds the transaction id ${zxid}`);
}
