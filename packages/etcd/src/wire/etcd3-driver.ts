import { rootCertificates } from 'node:tls';
import { noop } from 'cockatiel';
import type { Etcd3, IOptions } from 'etcd3';
import type { Etcd3Class } from '../api/etcd3-client.ts';
import type { CallOptions, Driver } from '../driver/driver.ts';
import { Etcd3Channel } from './etcd3-channel.ts';
import { answeredWithin, loggingInOnce, requireLeader, type GrpcCallOptions } from './interceptors.ts';
import { watchOpenings } from './opening-sockets.ts';
import type { CheckedOptions } from '../api/options.ts';
import { MemberCircuitBreaker, type Failures } from '../driver/member-circuit-breaker.ts';
import type { DriverOf } from './transport.ts';

const GRPC_DEFAULTS: NonNullable<IOptions['grpcOptions']> = {
  // A connection that died without a word is noticed after 8 s. Servers allow a ping every 5 s and only while a call
  // is open; the streams always are, and unary calls have their deadline.
  'grpc.keepalive_time_ms': 6_000,
  'grpc.keepalive_timeout_ms': 2_000,
  // A connection per service: a large read does not delay heartbeats, and a fresh one knows nothing of old back-offs.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 1_000,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // No DNS look-ups for settings that etcd does not publish.
  'grpc.service_config_disable_resolution': 1,
  // A long queue is one message.
  'grpc.max_receive_message_length': -1,
};

/**
 * Members over npm etcd3, with neither its retries (they repeat transactions that were carried out and report the second outcome)
 * nor its circuit breakers (they block heartbeats for five seconds).
 */
export function etcd3DriverBy(Etcd3: Etcd3Class): DriverOf {
  return (host, options, failures) =>
    etcd3Driver(new Etcd3(etcd3Options(host, options)) as Etcd3, { host, failures });
}

function etcd3Driver(
  etcd: Etcd3,
  { host, failures }: { readonly host: string; readonly failures: Failures },
): Driver {
  const giveUpOpenings = watchOpenings(host);
  const { kv, leaseClient, watchClient, maintenance } = etcd;
  const way = new MemberCircuitBreaker(failures);
  const unary =
    <Request, Response>(ask: (request: Request, call: GrpcCallOptions) => Promise<Response>) =>
    (request: Request, call: CallOptions): Promise<Response> =>
      by(way, () => ask(request, bounded(call)));
  const status = unary((_, call) => maintenance.status(call));
  return {
    range: unary((request, call) => kv.range(request, call)),
    put: unary((request, call) => kv.put(request, call)),
    deleteRange: unary((request, call) => kv.deleteRange(request, call)),
    txn: unary((request, call) => kv.txn(request, call)),
    leaseGrant: unary((request, call) => leaseClient.leaseGrant(request, call)),
    leaseRevoke: unary((request, call) => leaseClient.leaseRevoke(request, call)),
    leaseTimeToLive: unary((request, call) => leaseClient.leaseTimeToLive(request, call)),
    status: (call) => status(undefined, call),
    watch: (listener) => new Etcd3Channel(way, () => watchClient.watch(), listener),
    keepAlive: (listener) => new Etcd3Channel(way, () => leaseClient.leaseKeepAlive(), listener),
    close: () => {
      etcd.close();
      giveUpOpenings();
    },
  };
}

/** Its channels connect anew after every failure, and know nothing of earlier ones; so the way says when. */
async function by<T>(way: MemberCircuitBreaker, ask: () => Promise<T>): Promise<T> {
  const passage = way.begin();
  try {
    const answer = await ask();
    passage.succeeded();
    return answer;
  } catch (error) {
    passage.failed(error);
    throw error;
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

function bounded({ withinMs }: CallOptions): GrpcCallOptions {
  return { deadline: Infinity, interceptors: [requireLeader, loggingInOnce(), answeredWithin(withinMs)] };
}

function deadlineIn(ms: number): number {
  // eslint-disable-next-line no-restricted-syntax -- gRPC takes the time of day, and makes a timer of it at once
  return Date.now() + ms;
}

function knownAuthorities(): Buffer {
  return Buffer.from(rootCertificates.join('\n'));
}
