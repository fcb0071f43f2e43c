import type { KVClient } from 'etcd3';
import { tellsOfToken } from '../driver/errors.ts';
import { afterPatience } from '../base/patience.ts';

/** Options of one call, as gRPC takes them. */
export type GrpcCallOptions = NonNullable<Parameters<KVClient['range']>[1]>;

/** Something that every call passes. */
export type Interceptor = NonNullable<GrpcCallOptions['interceptors']>[number];

const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const FORGOTTEN = 'etcdserver: invalid auth token';
const STILL_REFUSED = 'etcdserver: the token of a new log-in is refused as well';

/** Ends the call after that time, as a deadline of gRPC would that does not count how long this process was busy. */
export function answeredWithin(ms: number): Interceptor {
  return (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      const cancel = afterPatience(ms, () => {
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- gRPC's own number
        call.cancelWithStatus(DEADLINE_EXCEEDED, `no answer within ${ms} ms`);
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

/** A member that is cut off from the others answers at once that it has no leader, and does not hold streams open mutely. */
export const requireLeader: Interceptor = (options, nextCall) => {
  const call = nextCall(options);
  const start = call.start.bind(call);
  call.start = (metadata, listener) => {
    const asking = metadata.clone();
    asking.set('hasleader', 'true');
    start(asking, listener);
  };
  return asInterceptingCall(call);
};

/**
 * For one call and its repetitions: etcd3 logs in and repeats a call for a token that the server has forgotten, as often as that is so, and not
 * for one that is out of date since somebody changed a role. So it hears the former for both, once.
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
          const isForgotten = tellsOfToken(status.details);
          const instead = hasLoggedIn
            ? { code: UNAVAILABLE, details: STILL_REFUSED }
            : { details: FORGOTTEN };
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- gRPC's own number
          listener?.onReceiveStatus?.(isForgotten ? { ...status, ...instead } : status);
          hasLoggedIn ||= isForgotten;
        },
      });
    };
    return asInterceptingCall(call);
  };
}

/** What `nextCall` gives is enough. */
function asInterceptingCall(call: object): ReturnType<Interceptor> {
  return call as ReturnType<Interceptor>;
}
