import { rootCertificates } from 'node:tls';
import { QueueLockError } from '@queuelock/core/backend';
import { noop } from 'cockatiel';
import { Etcd3, type IOptions, type IResponseHeader } from 'etcd3';
import { classify } from './errors.ts';
import { answeredWithin, requireLeader, type GrpcCallOptions } from './interceptors.ts';
import { Lane } from './lane.ts';
import type { CheckedOptions } from './options.ts';
import type { MemberFacts } from './read-trust.ts';
import { Subject, type Observable } from './rx.ts';

/** One member of the cluster. */
export interface Endpoint {
  readonly host: string;
  readonly etcd: Etcd3;
}

/** One unary request, to be sent with these options. */
export type Request<T> = (etcd: Etcd3, options: GrpcCallOptions) => Promise<T>;

/** How a request is sent. */
export interface SendOptions {
  /** How long it may take from the sending on, in milliseconds. Default: what `requestTimeoutMs` says. */
  readonly withinMs?: number;
  /** It overtakes all that has not been sent yet. */
  readonly urgent?: boolean;
}

const GRPC_DEFAULTS: NonNullable<IOptions['grpcOptions']> = {
  // A connection that died without a word is noticed after 8 s. Servers allow a ping every 5 s and only while a call
  // is open; the streams always are, and unary calls have their deadline.
  'grpc.keepalive_time_ms': 6_000,
  'grpc.keepalive_timeout_ms': 2_000,
  // A connection per service: a large read does not delay heartbeats, and a fresh one knows nothing of old back-offs.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // No DNS look-ups for settings that etcd does not publish.
  'grpc.service_config_disable_resolution': 1,
  // A long queue is one message.
  'grpc.max_receive_message_length': -1,
};

/**
 * The members of the cluster, and which of them is asked: one, until it fails, then the next. One etcd3 client each,
 * with neither its retries (they repeat transactions that were carried out and report the second outcome) nor its
 * circuit breakers (they block heartbeats for five seconds).
 */
export class Connection {
  readonly endpoints: readonly Endpoint[];
  /** Emits when a request to this member failed for a reason that other requests to it would share. */
  readonly trouble$: Observable<Endpoint>;
  readonly #trouble$ = new Subject<Endpoint>();
  readonly #timeoutMs: number;
  readonly #lane = new Lane();
  #preferred: number;
  #revision = 0n;

  constructor(options: CheckedOptions) {
    this.endpoints = options.hosts.map((host) => ({ host, etcd: new Etcd3(etcd3Options(host, options)) }));
    this.trouble$ = this.#trouble$;
    this.#timeoutMs = options.requestTimeoutMs;
    this.#preferred = Math.floor(Math.random() * this.endpoints.length);
  }

  /** The newest revision that any answer has shown. */
  get revision(): bigint {
    return this.#revision;
  }

  /** The member to talk to now. */
  get endpoint(): Endpoint {
    return this.endpoints[this.#preferred] as Endpoint;
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
        return await request(endpoint.etcd, bounded(withinMs));
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
  async status({ etcd }: Endpoint): Promise<MemberFacts> {
    const { version, leader, header } = await etcd.maintenance.status(bounded(this.#timeoutMs));
    return { version, leader, term: header.raft_term, member: header.member_id };
  }

  /** Notes a failure and answers with the error to show: the next request goes elsewhere if this member is to blame. */
  failed(
    endpoint: Endpoint,
    { what, error }: { readonly what: string; readonly error: unknown },
  ): QueueLockError {
    const classified = classify(error, { what, host: endpoint.host });
    if (classified.code === 'UNAVAILABLE') {
      if (endpoint === this.endpoint) this.#preferred = (this.#preferred + 1) % this.endpoints.length;
      this.#trouble$.next(endpoint);
    }
    return classified;
  }

  close(): void {
    this.#trouble$.complete();
    for (const { etcd } of this.endpoints) etcd.close();
  }
}

function etcd3Options(host: string, options: CheckedOptions): IOptions {
  const { auth, credentials, tls, requestTimeoutMs } = options;
  return {
    hosts: `${tls ? 'https' : 'http'}://${host}`,
    grpcOptions: { ...GRPC_DEFAULTS, ...options.grpcOptions },
    faultHandling: { host: () => noop, global: noop },
    // etcd3 uses these for its own log-in too.
    defaultCallOptions: ({ isStream }) => ({
      interceptors: [requireLeader],
      ...(isStream ? {} : { deadline: deadlineIn(requestTimeoutMs) }),
    }),
    ...(auth ? { auth } : {}),
    ...(credentials ? { credentials: { rootCertificate: knownAuthorities(), ...credentials } } : {}),
  };
}

function bounded(ms: number): GrpcCallOptions {
  return { deadline: Infinity, interceptors: [requireLeader, answeredWithin(ms)] };
}

function deadlineIn(ms: number): number {
  // eslint-disable-next-line no-restricted-syntax -- gRPC takes the time of day, and makes a timer of it at once
  return Date.now() + ms;
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

function knownAuthorities(): Buffer {
  return Buffer.from(rootCertificates.join('\n'));
}
