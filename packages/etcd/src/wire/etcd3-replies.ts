import { unreadableReply } from '@queuelock/core/backend';
import { GrpcError } from '../driver/grpc-status.ts';
import { startTimeout } from '../base/timeout.ts';

/** The member, method and timeout of a call of npm etcd3, for error messages. */
export interface CallOfClient {
  readonly host: string;
  readonly method: string;
  readonly withinMs: number;
}

/** Maximum number of requests within one call, each with its own timeout: two log-ins, the call and its repetition. */
const ATTEMPTS = 4;

/**
 * Calls npm etcd3, and checks what it returns. The application may pass a client of a class of its own, and tracing tools may replace its methods. So
 * a call may never settle, may throw, or may return something that is not a response.
 * @throws {QueueLockError} `UNAVAILABLE` if the returned value is not a response, since the outcome is then unknown
 * @throws {GrpcError} `DEADLINE_EXCEEDED` if the call does not settle, although npm etcd3 ends calls after their timeout
 */
export function responseOf<T>(call: CallOfClient, request: () => Promise<T>): Promise<T> {
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
    // Calls `request` inside a promise, so that an error that it throws rejects the promise.
    new Promise<T>((settle) => {
      settle(request());
    })
      .then(check)
      .then(resolve, reject)
      .finally(cancel);
  });
}

/** Returns whether the value is a response of etcd. Each response has a header with the revision of the store. */
export function isResponse(response: unknown): boolean {
  const header: unknown = Reflect.get(Object(response) as object, 'header');
  return typeof header === 'object' && header !== null && 'revision' in header;
}
