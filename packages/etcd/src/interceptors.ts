import type { KVClient } from 'etcd3';

/** Options of one call, as gRPC takes them. */
export type GrpcCallOptions = NonNullable<Parameters<KVClient['range']>[1]>;

/** Something that every call passes. */
export type Interceptor = NonNullable<GrpcCallOptions['interceptors']>[number];

const DEADLINE_EXCEEDED = 4;
const PARTS = 4;

/**
 * As `setTimeout`, but a blocked event loop costs a quarter of the time at most: what has not been sent yet, or has come and was not
 * read, gets the other three.
 */
export function afterPatience(ms: number, task: () => void): () => void {
  let left = PARTS;
  const wait = (): NodeJS.Timeout => setTimeout(next, ms / PARTS);
  const next = (): void => {
    left -= 1;
    if (left === 0) task();
    else timer = wait();
  };
  let timer = wait();
  return () => {
    clearTimeout(timer);
  };
}

/** Ends the call after that time, as a deadline of gRPC would that does not count how long this process was busy. */
export function answeredWithin(ms: number): Interceptor {
  return (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      const cancel = afterPatience(ms, () => {
        // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- gRPC's own number
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

/** What `nextCall` gives is enough. */
function asInterceptingCall(call: object): ReturnType<Interceptor> {
  return call as ReturnType<Interceptor>;
}
