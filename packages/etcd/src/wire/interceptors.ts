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

/** Ends the call after a timeout in milliseconds, like a gRPC deadline that does not count the time in which this process was busy. */
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

/** Requires a leader. A member that is cut off from the others then fails at once, and does not keep streams open silently. */
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
 * Limits the log-ins of one call and its repetitions to one. etcd3 logs in and repeats a call for an unknown token without a limit, but not for
 * a token that a change of roles has outdated. So both statuses are converted to "invalid auth token" the first time, and to a failure after that.
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

/** Converts the type: the result of `nextCall` is sufficient. */
function asInterceptingCall(call: object): ReturnType<Interceptor> {
  return call as ReturnType<Interceptor>;
}
