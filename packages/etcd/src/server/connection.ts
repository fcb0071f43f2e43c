// The folder server answers: which member gets a request, how often, and what does it send without a request?
// Requests with their concurrency limit (this file, request-limiter.ts); watches and the events that servers lose (watches.ts, compactions.ts);
// batched reads (lookups.ts).

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

/** One member of the cluster. */
export interface Endpoint {
  readonly host: string;
  readonly driver: Driver;
}

/** Sends one unary request with these options. */
export type Request<T> = (etcd: Driver, options: CallOptions) => Promise<T>;

/** Settings of one request. */
export interface SendOptions {
  /** Timeout in milliseconds, from the sending on. Default: the option `requestTimeoutMs`. */
  readonly withinMs?: number;
  /** Whether the request is sent at once, before all that wait to be sent. Default `false`. */
  readonly urgent?: boolean;
}

/** Settings of one request, with the function that finds the revision of the store in the response. */
interface CheckedSendOptions<T> extends SendOptions {
  readonly header?: (answer: T) => IResponseHeader;
}

/**
 * The connection to a cluster. All requests go to one member until it fails, and then to the next one. The order of the members is random for
 * each connection, so that the clients of a failed member spread over the others.
 */
export class Connection {
  readonly endpoints: readonly Endpoint[];
  /** Emits when a request to this member failed for a reason that other requests to it would share. */
  readonly failures$: Observable<Endpoint>;
  readonly #failures$ = new Subject<Endpoint>();
  readonly #timeoutMs: number;
  readonly #details: Pick<CheckedOptions, 'tls' | 'prefix'>;
  readonly #limiter = new RequestLimiter();
  /** The members of the cluster in the order of use. The first one gets the requests. */
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

  /** The newest revision in any response, and in the notifications that were recorded with `noteRevision`. */
  get revision(): bigint {
    return this.#revision;
  }

  /**
   * Records the revision of an event that an observer has shown. A read that returns an older one is stale, which releases of etcd with stale
   * linearizable reads make possible, and would show the past.
   */
  noteRevision(revision: bigint): void {
    if (revision > this.#revision) this.#revision = revision;
  }

  /** The member that gets the next request. */
  get endpoint(): Endpoint {
    return this.#order[0] as Endpoint;
  }

  /**
   * Sends a request to one member, once, as soon as the limit of concurrent requests allows it. Rejects with a classified error after the
   * timeout at the latest. The timeout counts from the sending on, and before that from the last response to another request.
   */
  call<T>(what: string, request: Request<T>, options: SendOptions = {}): Promise<T> {
    return this.#send(what, request, options);
  }

  /**
   * Sends a linearizable request to the key space. Rejects if the store's revision went back, as it does after a restore from an old snapshot,
   * since orders and tokens would be granted a second time. A stale read is rejected as well.
   */
  ask<T extends { readonly header: IResponseHeader }>(
    what: string,
    request: Request<T>,
    options: SendOptions = {},
  ): Promise<T> {
    return this.#send(what, request, { header: headerOf, ...options });
  }

  /** Reads the status of one member. A failure does not emit on `failures$`: a member that is not in use may be down for long. */
  async status({ driver }: Endpoint): Promise<MemberFacts> {
    const { version, leader, header } = await driver.status({ withinMs: this.#timeoutMs });
    return { version, leader, term: header.raft_term, member: header.member_id };
  }

  /** Records a failure and returns the classified error. If the member caused it, the next request goes to another member. */
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

  /** One asynchronous function for every request, since each further one would cost every request several function calls. */
  #send<T>(
    what: string,
    request: Request<T>,
    { withinMs = this.#timeoutMs, urgent = false, header }: CheckedSendOptions<T>,
  ): Promise<T> {
    const send = async (): Promise<T> => {
      const endpoint = this.#order[0] as Endpoint;
      const before = this.#revision;
      let answer: T;
      try {
        answer = await request(endpoint.driver, { withinMs });
      } catch (error) {
        throw this.failed(endpoint, { what, error });
      }
      if (!header) return answer;
      const revision = BigInt(header(answer).revision);
      if (revision < before) throw wentBack(what, { before, revision });
      this.noteRevision(revision);
      return answer;
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
