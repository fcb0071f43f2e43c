// Folder "server": chooses the agent for each request, and notices changes of keys.
// connection.ts (this file) sends requests and chooses the agent. watches.ts watches keys for changes. session-key.ts writes the key that
// invalidates earlier requests of a session.

import { setMaxListeners } from 'node:events';
import {
  ConcurrencyLimiter,
  QueueLockError,
  connectionClosed,
  failureOf,
  isQueueLockError,
} from '@queuelock/core/backend';
import { Subject, type Observable } from '../base/rx.ts';
import { asUnavailable, errorOf, isDenied } from '../driver/errors.ts';
import type { Address, HttpClient, HttpRequest, HttpResponse } from '../driver/http.ts';
import { keyPath, txnBody, type KvOperation } from '../driver/requests.ts';
import { pairsIn, txnResult, type KvPair, type TxnResult } from '../driver/responses.ts';

/** The addresses of the agents, and the settings for every request to them. */
export interface ConnectionSettings {
  readonly http: HttpClient;
  /** The addresses of the agents, at least one. */
  readonly addresses: readonly Address[];
  readonly endpoint: string;
  /** Query parameters of every request: data center, namespace and partition. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestTimeoutMs: number;
}

/** A request to any of the agents. */
export interface ApiRequest extends Pick<HttpRequest, 'method' | 'body' | 'signal'> {
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  /** The timeout of the request in milliseconds. Default: the option `requestTimeoutMs`. */
  readonly timeoutMs?: number;
  /** HTTP status codes for which the request resolves with the response. It rejects for all others. Default: 200 only. */
  readonly expected?: readonly number[];
  /** Whether the request is a blocking query, for which the agent waits for a change before it responds. */
  readonly isBlocking?: true;
  /** Whether the request, for instance a heartbeat, is sent before waiting requests of this client. */
  readonly isUrgent?: true;
}

/** Options for reading a key, or all keys with a prefix. */
export interface ReadOptions {
  /** Whether the leader first confirms with a quorum of servers that it is still the leader. */
  readonly isConsistent?: boolean;
  readonly isTree?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly isUrgent?: true;
}

/**
 * Maximum number of requests in flight, not counting blocking queries and heartbeats. Each needs a connection. An agent closes connections beyond
 * `http_max_conns_per_client`, even those with a heartbeat.
 */
const MAX_REQUESTS = 16;

/** The result of reading a key, or all keys with a prefix. */
export interface KvRead {
  /** The keys that were found. The list is empty if no key was found. */
  readonly pairs: readonly KvPair[];
  readonly index: bigint;
}

/** Sends requests to the agents of a backend, one agent at a time. After a failure, the next request goes to the next agent. */
export class Connection {
  readonly endpoint: string;
  readonly requestTimeoutMs: number;
  readonly #settings: ConnectionSettings;
  readonly #doubts$ = new Subject<void>();
  readonly #interruptionListeners: (() => void)[] = [];
  readonly #closed = new AbortController();
  readonly #limiter = new ConcurrencyLimiter(MAX_REQUESTS);
  #current = 0;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    // Every request in flight adds a listener to the signal that aborts when the connection is closed. So Node must not warn about many listeners.
    setMaxListeners(0, this.#closed.signal);
    this.endpoint = settings.endpoint;
    this.requestTimeoutMs = settings.requestTimeoutMs;
  }

  /** Emits when an agent did not respond. Each session then sends a heartbeat at once. */
  get doubts$(): Observable<void> {
    return this.#doubts$;
  }

  /**
   * Registers a listener for the failures of agents. It is called when an agent did not respond to a request other than a blocking query. Blocking
   * queries to that agent should then be repeated.
   */
  onInterruption(listener: () => void): void {
    this.#interruptionListeners.push(listener);
  }

  /** Number of agents that the client may use, one at a time. */
  get agents(): number {
    return this.#settings.addresses.length;
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /**
   * Sends a request to the current agent.
   * @throws {QueueLockError} `UNAVAILABLE` when the outcome is unknown; `ACCESS_DENIED`; `INVALID_ARGUMENT`; `CLOSED`
   */
  async send(request: ApiRequest): Promise<HttpResponse> {
    this.throwIfClosed();
    if (request.isBlocking || request.isUrgent) return this.#send(request);
    await this.#limiter.acquire();
    try {
      this.throwIfClosed();
      return await this.#send(request);
    } finally {
      this.#limiter.release();
    }
  }

  async #send(request: ApiRequest): Promise<HttpResponse> {
    const { http, addresses, params } = this.#settings;
    const { expected = [200], timeoutMs = this.requestTimeoutMs } = request;
    const at = this.#current;
    const query = new URLSearchParams({ ...params, ...request.params }).toString();
    const { method, body } = request;
    const path = `${request.path}${query === '' ? '' : `?${query}`}`;
    const signal = request.signal
      ? AbortSignal.any([request.signal, this.#closed.signal])
      : this.#closed.signal;
    let response: HttpResponse;
    try {
      response = await http.send(addresses[at] as Address, { method, path, body, timeoutMs, signal });
    } catch (error) {
      this.throwIfClosed();
      request.signal?.throwIfAborted();
      throw this.#failed(at, request, asUnavailable(error, this.endpoint));
    }
    if (expected.includes(response.status) && !isDeniedTxn(response)) return response;
    // Switches to another agent after a server error. The other agent may know the leader when the failed agent knows none.
    if (response.status >= 500) this.#leave(at);
    throw errorOf(response, this.endpoint);
  }

  /** Switches to another agent, because the agent `at` did not respond. Returns the error with which the request rejects. */
  #failed(at: number, { isBlocking }: ApiRequest, error: QueueLockError): QueueLockError {
    this.#leave(at);
    this.#doubts$.next();
    if (!isBlocking) {
      this.#limiter.rejectWaiting(error);
      for (const interrupt of this.#interruptionListeners) interrupt();
    }
    return error;
  }

  /** Reads a key, or all keys that begin with it. */
  async read(
    key: string,
    { isConsistent = false, isTree = false, signal, isUrgent }: ReadOptions = {},
  ): Promise<KvRead> {
    const params = { ...(isConsistent && { consistent: '' }), ...(isTree && { recurse: '' }) };
    const path = keyPath(key);
    const response = await this.send({
      method: 'GET',
      path,
      params,
      signal,
      expected: [200, 404],
      ...(isUrgent && { isUrgent }),
    });
    return this.readIn(response);
  }

  /**
   * Parses the keys in a response with the status 200 or 404.
   * @throws {QueueLockError} `UNAVAILABLE` when the response has another form or no index, because then it is not from an agent
   */
  readIn({ status, body, index }: HttpResponse): KvRead {
    if (index === undefined)
      throw unexpected(this.endpoint, 'a response has no X-Consul-Index: a proxy may have removed it');
    return { pairs: status === 404 ? [] : this.parse(pairsIn, body), index };
  }

  /**
   * Parses a body with one of the functions of `responses.ts`.
   * @throws {QueueLockError} `UNAVAILABLE` when the body does not have the expected form
   */
  parse<T>(read: (body: string) => T, body: string): T {
    try {
      return read(body);
    } catch (error) {
      const text = body.trim().slice(0, 200);
      throw unexpected(this.endpoint, `a response is not what Consul sends: ${failureOf(error)}: ${text}`);
    }
  }

  /** Runs a transaction. Resolves also when a condition in it was not met, and the store changed nothing. */
  async txn(operations: readonly KvOperation[]): Promise<TxnResult> {
    const body = txnBody(operations);
    const { body: text } = await this.send({ method: 'PUT', path: '/v1/txn', body, expected: [200, 409] });
    return this.parse(txnResult, text);
  }

  close(): void {
    this.#closed.abort(connectionClosed(this.endpoint));
    this.#limiter.rejectWaiting(connectionClosed(this.endpoint));
    this.#settings.http.close();
  }

  throwIfClosed(): void {
    if (this.isClosed) throw connectionClosed(this.endpoint);
  }

  /**
   * Switches from the agent with this number to the next one. Does nothing if the client already uses another agent, because that one has not failed.
   */
  #leave(at: number): void {
    if (at === this.#current) this.#current = (at + 1) % this.agents;
  }
}

/** Returns whether a transaction failed because the token lacks a permission. Consul then responds with the same status as for other failures. */
function isDeniedTxn({ status, body }: HttpResponse): boolean {
  return status === 409 && isDenied(body);
}

/** Returns whether the error leaves the outcome of a request unknown. */
export function isUnknown(error: unknown): boolean {
  return !isQueueLockError(error) || error.code === 'UNAVAILABLE';
}

/** Returns the error `UNAVAILABLE` for a response that does not have the expected form. */
export function unexpected(endpoint: string, what: string): QueueLockError {
  return new QueueLockError('UNAVAILABLE', `${endpoint}: ${what}`);
}
