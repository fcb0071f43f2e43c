import { rootCertificates } from 'node:tls';
import { noop } from 'cockatiel';
import type { Etcd3, IOptions } from 'etcd3';
import type { Etcd3Class } from '../api/etcd3-client.ts';
import type { CallOptions, Driver } from '../driver/driver.ts';
import { Etcd3Channel } from './etcd3-channel.ts';
import { withTimeout, loggingInOnce, requireLeader, type GrpcCallOptions } from './interceptors.ts';
import { Etcd3Clients, type ClientUse } from './etcd3-clients.ts';
import { watchOpenings } from './opening-sockets.ts';
import type { EtcdCredentials } from '../api/credentials.ts';
import type { CheckedOptions } from '../api/options.ts';
import { isLogInRefused } from '../driver/errors.ts';
import { responseOf } from './etcd3-replies.ts';
import { MemberCircuitBreaker, type Failures } from '../driver/member-circuit-breaker.ts';
import type { DriverOf } from './driver-of.ts';

const GRPC_DEFAULTS: NonNullable<IOptions['grpcOptions']> = {
  // With these settings, grpc-js closes a connection that has been without any response for 8 s. etcd allows a ping every 5 s, and only while a call
  // is open. Pings during calls are enough here: the streams are always open, and each unary call has its own timeout.
  'grpc.keepalive_time_ms': 6_000,
  'grpc.keepalive_timeout_ms': 2_000,
  // Each service of etcd's API has its own connection. So a large read delays no heartbeat, and a new connection does not wait for the backoff of
  // another connection.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 1_000,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Avoids DNS queries for service configurations, which etcd does not publish.
  'grpc.service_config_disable_resolution': 1,
  // The size of a message is not limited, since a whole queue may be one message.
  'grpc.max_receive_message_length': -1,
};

/**
 * Returns a factory of drivers over npm etcd3. Retries of npm etcd3 are disabled: it would repeat a transaction that was carried out, and
 * return the outcome of the repetition. Its circuit breakers are disabled, because they block heartbeats for five seconds.
 */
export function etcd3DriverBy(Etcd3: Etcd3Class): DriverOf {
  return (host, options, failures) =>
    etcd3Driver(options, {
      ...{ host, failures },
      make: (credentials) => new Etcd3(etcd3Options(host, options, credentials)) as Etcd3,
    });
}

interface Etcd3Parts {
  readonly host: string;
  readonly failures: Failures;
  readonly make: (credentials: EtcdCredentials) => Etcd3;
}

function etcd3Driver(options: CheckedOptions, { host, failures, make }: Etcd3Parts): Driver {
  const destroyOpenings = watchOpenings(host);
  const clients = new Etcd3Clients(options.credentials, make);
  const breaker = new MemberCircuitBreaker(failures);
  const unary =
    <Request, Response>(
      method: string,
      sendRequest: (etcd: Etcd3, request: Request, call: GrpcCallOptions) => Promise<Response>,
    ) =>
    (request: Request, call: CallOptions): Promise<Response> =>
      callUnderBreaker(breaker, clients, (etcd) =>
        responseOf({ host, method, ...call }, () => sendRequest(etcd, request, bounded(call))),
      );
  const status = unary('status', ({ maintenance }, _, call) => maintenance.status(call));
  const use = (): ClientUse | Promise<ClientUse> => clients.present() ?? clients.renewed();
  const channel = { host, breaker, clients, use };
  return {
    range: unary('range', ({ kv }, request, call) => kv.range(request, call)),
    put: unary('put', ({ kv }, request, call) => kv.put(request, call)),
    deleteRange: unary('deleteRange', ({ kv }, request, call) => kv.deleteRange(request, call)),
    txn: unary('txn', ({ kv }, request, call) => kv.txn(request, call)),
    leaseGrant: unary('leaseGrant', ({ leaseClient }, request, call) =>
      leaseClient.leaseGrant(request, call),
    ),
    leaseRevoke: unary('leaseRevoke', ({ leaseClient }, request, call) =>
      leaseClient.leaseRevoke(request, call),
    ),
    leaseTimeToLive: unary('leaseTimeToLive', ({ leaseClient }, request, call) =>
      leaseClient.leaseTimeToLive(request, call),
    ),
    status: (call) => status(undefined, call),
    watch: (listener) =>
      new Etcd3Channel({ ...channel, open: ({ watchClient }) => watchClient.watch() }, listener),
    keepAlive: (listener) =>
      new Etcd3Channel({ ...channel, open: ({ leaseClient }) => leaseClient.leaseKeepAlive() }, listener),
    close: () => {
      clients.close();
      destroyOpenings();
    },
  };
}

/** Makes a call if the member's circuit breaker of this package allows it, since npm etcd3 connects again after every failure without any backoff. */
async function callUnderBreaker<T>(
  breaker: MemberCircuitBreaker,
  clients: Etcd3Clients<EtcdCredentials>,
  sendRequest: (etcd: Etcd3) => Promise<T>,
): Promise<T> {
  const breakerCall = breaker.begin();
  try {
    const response = await callWithLogIn(clients, sendRequest);
    breakerCall.succeeded();
    return response;
  } catch (error) {
    clients.failed();
    breakerCall.failed(error);
    throw error;
  }
}

/**
 * Makes a call, and repeats it with current credentials if the log-in was refused. The first call had no effect, and the password may have
 * changed.
 */
async function callWithLogIn<T>(
  clients: Etcd3Clients<EtcdCredentials>,
  sendRequest: (etcd: Etcd3) => Promise<T>,
): Promise<T> {
  const use = clients.present() ?? (await clients.renewed());
  try {
    return await sendRequest(use.etcd);
  } catch (error) {
    if (!isLogInRefused(error)) throw error;
    const renewed = await clients.renewed();
    return await (renewed.etcd === use.etcd ? Promise.reject(error) : sendRequest(renewed.etcd)).finally(
      renewed.end,
    );
  } finally {
    use.end();
  }
}

function etcd3Options(host: string, options: CheckedOptions, { user, pems }: EtcdCredentials): IOptions {
  const { tls, requestTimeoutMs } = options;
  return {
    hosts: `${tls ? 'https' : 'http'}://${host}`,
    grpcOptions: { ...GRPC_DEFAULTS, ...options.grpcOptions },
    faultHandling: { host: () => noop, global: noop },
    // Sets options of log-ins: npm etcd3 uses the default call options also for its log-in, and accepts no other options for it.
    defaultCallOptions: ({ isStream }) => ({
      interceptors: [requireLeader],
      ...(isStream ? {} : { deadline: deadlineIn(requestTimeoutMs) }),
    }),
    ...(user ? { auth: user } : {}),
    ...(pems ? { credentials: { rootCertificate: knownAuthorities(), ...pems } } : {}),
  };
}

function bounded({ withinMs }: CallOptions): GrpcCallOptions {
  return { deadline: Infinity, interceptors: [requireLeader, loggingInOnce(), withTimeout(withinMs)] };
}

function deadlineIn(ms: number): number {
  // eslint-disable-next-line no-restricted-syntax -- gRPC takes the time of day, and makes a timer of it at once
  return Date.now() + ms;
}

function knownAuthorities(): Buffer {
  return Buffer.from(rootCertificates.join('\n'));
}
