// Folder "server": chooses the member for each request, limits requests in flight, and receives watch events.
// connection.ts (this file) and request-limiter.ts send requests. watches.ts watches keys. compactions.ts detects events that servers lose.
// lookups.ts reads keys in batches.

import { QueueLockError } from '@queuelock/core/backend';
import type { IResponseHeader } from '../protocol/messages.ts';
import type { CallOptions, Driver } from '../driver/driver.ts';
import { classify } from '../driver/errors.ts';
import { RequestLimiter } from './request-limiter.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { MemberFacts } from './read-trust.ts';
import { Subject, type Observable } from '../base/rx.ts';
import { driverOf } from '../wire/transport.ts';
import type { DriverOf } from '../wire/driver-of.ts';
import { Failures } from '../driver/member-circuit-breaker.ts';

/** One member of the cluster, with the driver that sends requests to it. */
export interface Endpoint {
  readonly host: string;
  readonly driver: Driver;
}

/** Sends one unary request to a member with the given options. */
export type Request<T> = (etcd: Driver, options: CallOptions) => Promise<T>;

/** Options of one request to a member. */
export interface SendOptions {
  /** Timeout of the request in milliseconds, counted from when it is sent. Default: the option `requestTimeoutMs` of the backend. */
  readonly withinMs?: number;
  /** Whether the request is sent at once, ahead of requests that wait for the concurrency limit. Default `false`. */
  readonly urgent?: boolean;
}

/** Options of one request, and the function that returns the header of its response. The header contains the store's revision. */
interface CheckedSendOptions<T> extends SendOptions {
  readonly header?: (response: T) => IResponseHeader;
}

/**
 * The connection to a cluster. All requests go to one member until a request to it fails, and then to the next member. The order of the
 * members is random for each connection, so that the clients of a failed member spread over the other members.
 */
export class Connection {
  readonly endpoints: readonly Endpoint[];
  /** Emits the member when a request to it has failed for a reason that would also make other requests fail. */
  readonly failures$: Observable<Endpoint>;
  readonly #failures$ = new Subject<Endpoint>();
  readonly #timeoutMs: number;
  readonly #details: Pick<CheckedOptions, 'tls' | 'prefix'>;
  readonly #limiter = new RequestLimiter();
  /** The members in the order of their use. The first member gets all requests. */
  readonly #order: Endpoint[];
  #revision = 0n;

  constructor(options: CheckedOptions, drive: DriverOf = driverOf) {
    const failures = new Failures();
    this.endpoints = options.hosts.map((host) => ({ host, driver: drive(host, options, failures) }));
    this.failures$ = this.#failures$;
    this.#timeoutMs = options.requestTimeoutMs;
    this.#details = { tls: options.tls, prefix: options.prefix };
    this.#order = shuffled(this.endpoints);
  }

  /** The newest revision that any response contained, or that `noteRevision` has recorded. */
  get revision(): bigint {
    return this.#revision;
  }

  /**
   * Records the revision of an event that an observer has emitted. A later read with an older revision is
   * then rejected, because the observer would emit a past state. Some versions of etcd return such stale
   * reads.
   */
  noteRevision(revision: bigint): void {
    if (revision > this.#revision) this.#revision = revision;
  }

  /** The member that gets the next request of this connection. */
  get endpoint(): Endpoint {
    return this.#order[0] as Endpoint;
  }

  /**
   * Sends a request to one member, once, as soon as the concurrency limit allows it. Rejects with a classified error after the timeout. While
   * the request waits to be sent, each response to another request restarts its timeout.
   */
  call<T>(what: string, request: Request<T>, options: SendOptions = {}): Promise<T> {
    return this.#send(what, request, options);
  }

  /**
   * Sends a linearizable request to the key space. Rejects if the store's revision is smaller than in an earlier response. This happens after a
   * restore from an old backup: the store would then return order numbers and tokens a second time. A stale read is rejected as well.
   */
  ask<T extends { readonly header: IResponseHeader }>(
    what: string,
    request: Request<T>,
    options: SendOptions = {},
  ): Promise<T> {
    return this.#send(what, request, { header: headerOf, ...options });
  }

  /** Reads the status of one member. Its failure does not emit on `failures$`, because a member that is not in use may be down for long. */
  async status({ driver }: Endpoint): Promise<MemberFacts> {
    const { version, leader, header } = await driver.status({ withinMs: this.#timeoutMs });
    return { version, leader, term: header.raft_term, member: header.member_id };
  }

  /**
   * Records that a request to the member failed, and returns the classified error. If the member caused the failure, the next request goes to another
   * member.
   */
  failed(
    endpoint: Endpoint,
    { what, error }: { readonly what: string; readonly error: unknown },
  ): QueueLockError {
    const classified = classify(error, { what, host: endpoint.host, ...this.#details });
    if (classified.code === 'UNAVAILABLE') {
      if (endpoint === this.endpoint) this.#order.push(...this.#order.splice(0, 1));
      this.#failures$.next(endpoint);
    }
    return classified;
  }

  close(): void {
    this.#failures$.complete();
    for (const { driver } of this.endpoints) driver.close();
  }

  /**
   * Sends a request. It uses a single asynchronous function, since each further asynchronous function would cost every request several function
   * calls.
   */
  #send<T>(
    what: string,
    request: Request<T>,
    { withinMs = this.#timeoutMs, urgent = false, header }: CheckedSendOptions<T>,
  ): Promise<T> {
    const send = async (): Promise<T> => {
      const endpoint = this.#order[0] as Endpoint;
      const before = this.#revision;
      let response: T;
      try {
        response = await request(endpoint.driver, { withinMs });
      } catch (error) {
        throw this.failed(endpoint, { what, error });
      }
      if (!header) return response;
      const revision = BigInt(header(response).revision);
      if (revision < before) throw wentBack(what, { before, revision });
      this.noteRevision(revision);
      return response;
    };
    const timeoutError = (): QueueLockError => notSent(what, this.endpoint);
    return this.#limiter.send(send, { urgent, waitTimeoutMs: withinMs, timeoutError });
  }
}

function headerOf({ header }: { readonly header: IResponseHeader }): IResponseHeader {
  return header;
}

function shuffled<T>(all: readonly T[]): T[] {
  const chances = new Map(all.map((one) => [one, Math.random()]));
  return [...all].sort((a, b) => (chances.get(a) ?? 0) - (chances.get(b) ?? 0));
}

function notSent(what: string, { host }: Endpoint): QueueLockError {
  return new QueueLockError(
    'UNAVAILABLE',
    `${what}: not sent, since etcd ${host} has not responded to other requests`,
  );
}

function wentBack(
  what: string,
  { before, revision }: { readonly before: bigint; readonly revision: bigint },
): QueueLockError {
  const fact = `etcd went back from revision ${before} to ${revision}, so it was restored from an older state, or a member that was paused returned a stale read`;
  return new QueueLockError(
    'UNAVAILABLE',
    `${what}: ${fact}. After a restore, raise the epoch of your fencing tokens, then start again`,
  );
}
