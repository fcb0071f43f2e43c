import type { KVClient } from 'etcd3';
import { isTokenError } from '../driver/errors.ts';
import { startTimeout } from '../base/timeout.ts';

/** Options of one call in grpc-js. */
export type GrpcCallOptions = NonNullable<Parameters<KVClient['range']>[1]>;

/** An interceptor of grpc-js. */
export type Interceptor = NonNullable<GrpcCallOptions['interceptors']>[number];

const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const INVALID_TOKEN = 'etcdserver: invalid auth token';
const STILL_REFUSED = 'etcdserver: the token of a new log-in is refused too';

/** Ends the call after a timeout in milliseconds. Unlike a gRPC deadline, the timeout hardly advances while the event loop is blocked. */
export function withTimeout(ms: number): Interceptor {
  return (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      const cancel = startTimeout(ms, () => {
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- gRPC's own number
        call.cancelWithStatus(DEADLINE_EXCEEDED, `no response within ${ms} ms`);
      });
      start(metadata, {
        onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
        onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
        onReceiveStatus: (status) => {
          cancel();
          listener?.onReceiveStatus?.(status);
        },
      });
    };
    return asInterceptingCall(call);
  };
}

/**
 * Requires a member that knows a leader. A member that cannot reach the others then fails at once, instead of keeping streams open without events.
 */
export const requireLeader: Interceptor = (options, nextCall) => {
  const call = nextCall(options);
  const start = call.start.bind(call);
  call.start = (metadata, listener) => {
    const extended = metadata.clone();
    extended.set('hasleader', 'true');
    start(extended, listener);
  };
  return asInterceptingCall(call);
};

/**
 * Allows one log-in for a call and its repetitions. For an unknown token, npm etcd3 logs in and repeats the call without any limit. For a token that
 * a change of roles has outdated, it does not log in at all. So the first error of either kind becomes "invalid auth token", after which npm etcd3
 * logs in. A second such error becomes a failure of the call.
 */
export function loggingInOnce(): Interceptor {
  let hasLoggedIn = false;
  return (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      start(metadata, {
        onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
        onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
        onReceiveStatus: (status) => {
          const isOutdated = isTokenError(status.details);
          const instead = hasLoggedIn
            ? { code: UNAVAILABLE, details: STILL_REFUSED }
            : { details: INVALID_TOKEN };
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- gRPC's own number
          listener?.onReceiveStatus?.(isOutdated ? { ...status, ...instead } : status);
          hasLoggedIn ||= isOutdated;
        },
      });
    };
    return asInterceptingCall(call);
  };
}

/** Casts a call from `nextCall` to the type that an interceptor must return. The call has all methods that grpc-js needs. */
function asInterceptingCall(call: object): ReturnType<Interceptor> {
  return call as ReturnType<Interceptor>;
}
