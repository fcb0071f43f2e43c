// Folder "wire": implements the driver by a client of ZooKeeper's protocol over Node's sockets.
// driver.ts (this file) uses one connection (link.ts) after another. frames.ts and records.ts define the bytes.

import { QueueLockError } from '@queuelock/core/backend';
import type { CallOption } from '../driver/calls.ts';
import type {
  ConnectionEvent,
  Created,
  Listing,
  NodeChange,
  NodeData,
  NodeMode,
  NodeStat,
  SessionKey,
  Step,
  TransactionResult,
  VersionOption,
  WatchOption,
  ZkDriver,
} from '../driver/driver.ts';
import { ZkCode, errorOf } from '../driver/errors.ts';
import { Routes, type ChildChange } from '../driver/routes.ts';
import type { Observable } from '../base/rx.ts';
import type { WatchEvent } from './events.ts';
import type { WireConnectionOptions } from './connection-options.ts';
import { WireConnections } from './connections.ts';
import * as requests from './node-requests.ts';
import type { WireStat } from './records.ts';
import { sizeOf, type WireRequest } from './request.ts';
import { hexOf } from './session-key.ts';
import { doneOf, requestFor } from './steps.ts';

const ANY_VERSION = -1;
// The maximum size of a request: the servers' default `jute.maxbuffer`. A server that receives a larger one drops the connection.
const MAX_REQUEST_BYTES = 0xf_ff_ff;

/** The driver that implements ZooKeeper's protocol over Node's sockets. */
export class WireDriver implements ZkDriver {
  readonly #connections: WireConnections;
  readonly #changes = new Routes<NodeChange>();
  readonly #changesBelow = new Routes<ChildChange>();

  /** Starts to connect to one of the servers. */
  constructor(options: Omit<WireConnectionOptions, 'onChange'>) {
    this.#connections = new WireConnections({ ...options, onChange: (event) => this.#onChange(event) });
  }

  get sessionId(): string {
    return this.#connections.seen.key.client_id;
  }

  get sessionKey(): SessionKey {
    return this.#connections.seen.key;
  }

  get timeoutMs(): number {
    return this.#connections.seen.timeoutMs;
  }

  get startedAt(): number {
    return this.#connections.seen.begunAt;
  }

  get connection$(): Observable<ConnectionEvent> {
    return this.#connections.connection$;
  }

  get ended$(): Observable<never> {
    return this.#connections.ended$;
  }

  /**
   * The state with which the session has ended: a number of the C client, or 0 if this client has closed it.
   */
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
    const flags = requests.CreateFlag[mode];
    const node = { path, data: Buffer.from(text), flags };
    const { code, values } = await this.#call(what, requests.create2(node));
    if (code === ZkCode.noNode) return { path: undefined, reason: 'no-parent' };
    if (code === ZkCode.nodeExists) return { path: undefined, reason: 'exists' };
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return values[0];
  }

  async multi(steps: readonly Step[]): Promise<TransactionResult> {
    const what = `do ${steps.length} steps at once, from ${steps[0]?.type} ${steps[0]?.path} on,`;
    const { code, values } = await this.#call(what, requestFor(steps));
    const done = code === ZkCode.ok ? doneOf(values[0]) : code;
    if (typeof done === 'number') throw this.#failure(done, what);
    return done;
  }

  async delete(path: string, { version = ANY_VERSION }: VersionOption = {}): Promise<boolean> {
    const found = await this.#request(`delete ${path}`, requests.remove(path, version));
    return found !== undefined;
  }

  async write(
    path: string,
    text: string,
    { version = ANY_VERSION, ...option }: CallOption & VersionOption = {},
  ): Promise<NodeStat | undefined> {
    const request = requests.setData(path, Buffer.from(text), version);
    const found = await this.#request(`write ${path}`, request, option);
    return found && statOf(found.value);
  }

  async read(path: string, { watch = false }: WatchOption = {}): Promise<NodeData | undefined> {
    const found = await this.#request(`read ${path}`, requests.getData(path, watch));
    return found && { ...statOf(found.value.stat), text: found.value.data?.toString() ?? '' };
  }

  async stat(path: string, { watch = false }: WatchOption = {}): Promise<NodeStat | undefined> {
    const found = await this.#request(`look at ${path}`, requests.exists(path, watch));
    return found && statOf(found.value);
  }

  async children(path: string, { watch = false }: WatchOption = {}): Promise<readonly string[] | undefined> {
    const found = await this.#request(`list ${path}`, requests.getChildren(path, watch));
    return found?.value;
  }

  async list(path: string): Promise<Listing | undefined> {
    const found = await this.#request(`list ${path}`, requests.getChildren2(path, false));
    return found && { children: found.value.names, stat: statOf(found.value.stat) };
  }

  async ephemerals(prefix: string): Promise<readonly string[] | undefined> {
    const what = `list the nodes of session ${this.sessionId}`;
    const { code, values } = await this.#call(what, requests.getEphemerals(prefix));
    if (code === ZkCode.unimplemented) return undefined;
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return values[0];
  }

  async sync(): Promise<void> {
    await this.#request('sync', requests.sync('/'));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  abandon(): Promise<void> {
    return this.#connections.abandon();
  }

  /**
   * Sends a request. Resolves with its result, or with `undefined` when the node does not exist or has
   * another version.
   */
  async #request<T>(
    what: string,
    request: WireRequest<T>,
    option?: CallOption,
  ): Promise<{ readonly value: T } | undefined> {
    const { code, values } = await this.#call(what, request, option);
    if (code === ZkCode.noNode || code === ZkCode.badVersion) return undefined;
    if (code !== ZkCode.ok) throw this.#failure(code, what);
    return { value: values[0] };
  }

  async #call<T>(
    what: string,
    request: WireRequest<T>,
    option?: CallOption,
  ): Promise<{ readonly code: number; readonly values: [T] }> {
    const size = sizeOf(request);
    if (size > MAX_REQUEST_BYTES) throw tooLarge(what, size);
    return this.#connections.call(what, request, option);
  }

  /** Ends the session when a reply reports that it has expired, so that all users of the session are notified. */
  #failure(code: number, what: string): Error {
    if (code === ZkCode.sessionExpired) this.#connections.noteExpired();
    return errorOf(code, what);
  }

  #onChange({ path, change }: WatchEvent): void {
    this.#changes.notify(path, change);
    const slash = path.lastIndexOf('/');
    this.#changesBelow.notify(path.slice(0, slash), { name: path.slice(slash + 1), change });
  }
}

function statOf(stat: WireStat): NodeStat {
  return {
    czxid: stat.czxid,
    version: stat.version,
    childChanges: stat.cversion,
    childCount: stat.numChildren,
    childrenZxid: stat.pzxid,
    ephemeralOwner: hexOf(stat.ephemeralOwner),
  };
}

function tooLarge(what: string, size: number): QueueLockError {
  return new QueueLockError(
    'INVALID_ARGUMENT',
    `the request to ${what} takes ${size} bytes, and a ZooKeeper server accepts ${MAX_REQUEST_BYTES} (jute.maxbuffer)`,
  );
}
