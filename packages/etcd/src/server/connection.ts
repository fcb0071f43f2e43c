// Chapter server: which member is asked, how often, and what does it tell by itself?
// Requests with their turn and their retries (here, lane); watches and the events that servers lose (compactions); lookups.

import { QueueLockError } from '@queuelock/core/backend';
import type { IResponseHeader } from '../protocol/messages.ts';
import type { CallOptions, Driver } from '../driver/driver.ts';
import { classify } from '../driver/errors.ts';
import { Lane } from './lane.ts';
import type { CheckedOptions } from '../api/options.ts';
import type { MemberFacts } from './read-trust.ts';
import { Subject, type Observable } from '../base/rx.ts';
import { driverOf, type DriverOf } from '../wire/transport.ts';
import { Failures } from '../driver/member-circuit-breaker.ts';

/** One member of the cluster. */
export interface Endpoint {
  readonly host: string;
  readonly driver: Driver;
}

/** One unary request, to be sent with these options. */
export type Request<T> = (etcd: Driver, options: CallOptions) => Promise<T>;

/** How a request is sent. */
export interface SendOptions {
  /** How long it may take from the sending on, in milliseconds. Default: what `requestTimeoutMs` says. */
  readonly withinMs?: number;
  /** It overtakes all that has not been sent yet. */
  readonly urgent?: boolean;
}

/**
 * The members of the cluster, and which of them is asked: one, until it fails, then the next, in an order of each connection's own. So those
 * who lose a member do not all go to the same other one.
 */
export class Connection {
  readonly endpoints: readonly Endpoint[];
  /** Emits when a request to this member failed for a reason that other requests to it would share. */
  readonly trouble$: Observable<Endpoint>;
  readonly #trouble$ = new Subject<Endpoint>();
  readonly #timeoutMs: number;
  readonly #about: Pick<CheckedOptions, 'tls' | 'prefix'>;
  readonly #lane = new Lane();
  /** The first is asked. */
  readonly #order: Endpoint[];
  #revision = 0n;

  constructor(options: CheckedOptions, drive: DriverOf = driverOf) {
    const failures = new Failures();
    this.endpoints = options.hosts.map((host) => ({ host, driver: drive(host, options, failures) }));
    this.trouble$ = this.#trouble$;
    this.#timeoutMs = options.requestTimeoutMs;
    this.#about = { tls: options.tls, prefix: options.prefix };
    this.#order = shuffled(this.endpoints);
  }

  /** The newest revision that any answer has shown. */
  get revision(): bigint {
    return this.#revision;
  }

  /** The member to talk to now. */
  get endpoint(): Endpoint {
    return this.#order[0] as Endpoint;
  }

  /**
   * Sends one request to one member, once, when its turn has come. Rejects with a classified error, at the latest when the time is
   * over: counted from the sending on, and before that from the last answer to another one.
   */
  call<T>(what: string, request: Request<T>, options: SendOptions = {}): Promise<T> {
    const { withinMs = this.#timeoutMs, urgent = false } = options;
    const send = async (): Promise<T> => {
      const endpoint = this.endpoint;
      try {
        return await request(endpoint.driver, { withinMs });
      } catch (error) {
        throw this.failed(endpoint, { what, error });
      }
    };
    const late = (): QueueLockError => notSent(what, this.endpoint);
    return this.#lane.send(send, { urgent, patienceMs: withinMs, late });
  }

  /**
   * A linearizable request to the key space. Rejects when the store's revision went back, as it does after a restore from
   * an old snapshot: orders and tokens would be given out a second time.
   */
  async ask<T extends { readonly header: IResponseHeader }>(
    what: string,
    request: Request<T>,
    options: SendOptions = {},
  ): Promise<T> {
    let before = 0n;
    const send: Request<T> = (etcd, callOptions) => {
      before = this.#revision;
      return request(etcd, callOptions);
    };
    const answer = await this.call(what, send, options);
    const revision = BigInt(answer.header.revision);
    if (revision < before) throw wentBack(what, { before, revision });
    if (revision > this.#revision) this.#revision = revision;
    return answer;
  }

  /** Asks one member about itself. A failure is not noted as trouble: a member that is not used may be gone for long. */
  async status({ driver }: Endpoint): Promise<MemberFacts> {
    const { version, leader, header } = await driver.status({ withinMs: this.#timeoutMs });
    return { version, leader, term: header.raft_term, member: header.member_id };
  }

  /** Notes a failure and answers with the error to show: the next request goes elsewhere if this member is to blame. */
  failed(
    endpoint: Endpoint,
    { what, error }: { readonly what: string; readonly error: unknown },
  ): QueueLockError {
    const classified = classify(error, { what, host: endpoint.host, ...this.#about });
    if (classified.code === 'UNAVAILABLE') {
      if (endpoint === this.endpoint) this.#order.push(...this.#order.splice(0, 1));
      this.#trouble$.next(endpoint);
    }
    return classified;
  }

  close(): void {
    this.#trouble$.complete();
    for (const { driver } of this.endpoints) driver.close();
  }
}

function shuffled<T>(all: readonly T[]): T[] {
  const chances = new Map(all.map((one) => [one, Math.random()]));
  return [...all].sort((a, b) => (chances.get(a) ?? 0) - (chances.get(b) ?? 0));
}

function notSent(what: string, { host }: Endpoint): QueueLockError {
  return new QueueLockError('UNAVAILABLE', `${what}: not sent, since etcd ${host} has not answered others`);
}

function wentBack(
  what: string,
  { before, revision }: { readonly before: bigint; readonly revision: bigint },
): QueueLockError {
  const story = `etcd went back from revision ${before} to ${revision}, so it was restored from an older state`;
  return new QueueLockError(
    'UNAVAILABLE',
    `${what}: ${story}. Raise the epoch of your fencing tokens, then start anew`,
  );
}
