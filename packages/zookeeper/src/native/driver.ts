// Folder "native": implements the driver by the npm package `zookeeper`, which wraps the C client.
// driver.ts (this file) implements the interface. connections.ts uses one handle (handle.ts) after another. addon.ts loads the binding.
// reserved-sockets.ts works around a defect of the C client.

import { QueueLockError } from '@queuelock/core/backend';
import type { CallOption, Request } from '../driver/calls.ts';
import type {
  ConnectionEvent,
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
import { NativeConnections, type NativeConnectionOptions } from './connections.ts';
import { NATIVE_MODE, type NativeCalls, type NativeStat } from './addon.ts';
import { Routes, type ChildChange } from '../driver/routes.ts';
import type { Observable } from '../base/rx.ts';

const ANY_VERSION = -1;

/** The driver over the npm package `zookeeper`, which wraps the C client. */
export class NativeDriver implements ZkDriver {
  readonly #connections: NativeConnections;
  readonly #changes = new Routes<NodeChange>();
  readonly #changesBelow = new Routes<ChildChange>();

  /** Starts to connect to one of the servers. */
  constructor(options: Omit<NativeConnectionOptions, 'onChange'>) {
    this.#connections = new NativeConnections({
      ...options,
      onChange: (path, change) => this.#onChange(path, change),
    });
  }

  get sessionId(): string {
    return this.#connections.session.client_id;
  }

  get sessionKey(): SessionKey {
    return this.#connections.session;
  }

  get timeoutMs(): number {
    return this.#connections.timeoutMs;
  }

  get startedAt(): number {
    return this.#connections.startedAt;
  }

  get connection$(): Observable<ConnectionEvent> {
    return this.#connections.connection$;
  }

  get ended$(): Observable<never> {
    return this.#connections.ended$;
  }

  /** The state of the C client with which the session has ended; 0 if this client has closed it. */
  get endedWith(): number | undefined {
    return this.#connections.endedWith;
  }

  changes(path: string): Observable<NodeChange> {
    return this.#changes.of(path);
  }

  changesBelow(path: string): Observable<ChildChange> {
    return this.#changesBelow.of(path);
  }

  async create(path: string, text: string, mode: NodeMode): Promise<Created> {
    const what = `create ${path}`;
    const { code, values } = await this.#connections.call<[string]>(what, (native, done) =>
      native.a_create(path, Buffer.from(text), NATIVE_MODE[mode], done),
    );
    if (code === ZkCode.noNode) return { path: undefined, reason: 'no-parent' };
    if (code === ZkCode.nodeExists) return { path: undefined, reason: 'exists' };
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return { path: values[0] };
  }

  async delete(path: string, { version = ANY_VERSION }: VersionOption = {}): Promise<boolean> {
    const found = await this.#request(`delete ${path}`, (native, done) =>
      native.a_delete_(path, version, done),
    );
    return found !== undefined;
  }

  async write(
    path: string,
    text: string,
    { version = ANY_VERSION, ...option }: CallOption & VersionOption = {},
  ): Promise<NodeStat | undefined> {
    const found = await this.#request<[NativeStat]>(
      `write ${path}`,
      (native, done) => native.a_set(path, Buffer.from(text), version, done),
      option,
    );
    return found && statOf(found[0]);
  }

  async read(path: string, { watch = false }: WatchOption = {}): Promise<NodeData | undefined> {
    const found = await this.#request<[NativeStat, Buffer | null]>(`read ${path}`, (native, done) =>
      native.a_get(path, watch, done),
    );
    return found && { ...statOf(found[0]), text: found[1]?.toString() ?? '' };
  }

  async stat(path: string, { watch = false }: WatchOption = {}): Promise<NodeStat | undefined> {
    const found = await this.#request<[NativeStat]>(`stat ${path}`, (native, done) =>
      native.a_exists(path, watch, done),
    );
    return found && statOf(found[0]);
  }

  async children(path: string, { watch = false }: WatchOption = {}): Promise<readonly string[] | undefined> {
    const found = await this.#request<[string[]]>(`list ${path}`, (native, done) =>
      native.a_get_children(path, watch, done),
    );
    return found?.[0];
  }

  async list(path: string): Promise<Listing | undefined> {
    const found = await this.#request<[string[], NativeStat]>(`list ${path}`, (native, done) =>
      native.a_get_children2(path, false, done),
    );
    return found && { children: found[0], stat: statOf(found[1]) };
  }

  async sync(): Promise<void> {
    await this.#request<[string]>('sync', (native, done) => native.a_sync('/', done));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  abandon(): Promise<void> {
    return this.#connections.abandon();
  }

  /**
   * Sends a request. Resolves with its results, or with `undefined` when the node does not exist or has
   * another version.
   */
  async #request<V extends unknown[]>(
    what: string,
    request: Request<V, NativeCalls>,
    option?: CallOption,
  ): Promise<V | undefined> {
    const { code, values } = await this.#connections.call(what, request, option);
    if (code === ZkCode.noNode || code === ZkCode.badVersion) return undefined;
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return values;
  }

  /** Ends the session when a reply reports that it has expired, so that all users of the session are notified. */
  #failure(code: number, what: string): Error {
    if (code === ZkCode.sessionExpired) this.#connections.noteExpired();
    return errorOf(code, what);
  }

  #onChange(path: string, change: NodeChange): void {
    this.#changes.notify(path, change);
    const slash = path.lastIndexOf('/');
    this.#changesBelow.notify(path.slice(0, slash), { name: path.slice(slash + 1), change });
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
