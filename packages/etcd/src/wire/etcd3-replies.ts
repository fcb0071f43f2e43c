import { unreadableReply } from '@queuelock/core/backend';
import { GrpcError } from '../driver/grpc-status.ts';
import { startTimeout } from '../base/timeout.ts';

/** A call of npm etcd3, as its errors name it. */
export interface CallOfClient {
  readonly host: string;
  readonly method: string;
  readonly withinMs: number;
}

/** Two log-ins and one repetition, each with a timeout of its own, may be part of one call. */
const ATTEMPTS = 4;

/**
 * Calls npm etcd3 and checks what it returns. The class may be the application's, and tracing tools change its methods, so a call may never
 * settle, throw, or return something else than a response.
 * @throws {QueueLockError} `UNAVAILABLE` for something else than a response, whose outcome is unknown
 * @throws {GrpcError} `DEADLINE_EXCEEDED` if the call does not settle, although etcd3 ends calls after their timeout
 */
export function responseOf<T>(call: CallOfClient, ask: () => Promise<T>): Promise<T> {
  const { host, method, withinMs } = call;
  return new Promise((resolve, reject) => {
    const late = `the client library has not settled ${method} within ${ATTEMPTS * withinMs} ms`;
    const cancel = startTimeout(ATTEMPTS * withinMs, () => {
      reject(new GrpcError('DEADLINE_EXCEEDED', late));
    });
    const check = (response: T): T => {
      if (isResponse(response)) return response;
      throw unreadableReply(`etcd ${host}`, method, response);
    };
    // A call that throws rejects as well.
    new Promise<T>((settle) => {
      settle(ask());
    })
      .then(check)
      .then(resolve, reject)
      .finally(cancel);
  });
}

/** Returns whether this is a response of etcd. Each has a header with the revision of the store. */
export function isResponse(response: unknown): boolean {
  const header: unknown = Reflect.get(Object(response) as object, 'header');
  return typeof header === 'object' && header !== null && 'revision' in header;
}
