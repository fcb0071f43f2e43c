import type { OutgoingHttpHeaders } from 'node:http2';
import { GrpcError } from '../driver/grpc-status.ts';
import { Http2Call, unreadable } from './http2-call.ts';
import type { Http2Dialer } from './http2-dialer.ts';
import type { Method } from './http2-methods.ts';
import { decoded } from './wire-read.ts';
import { framed } from './wire-write.ts';

/** One call with one response. */
export interface Unary<Request, Response> {
  readonly dialer: Http2Dialer;
  readonly headers: OutgoingHttpHeaders;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly withinMs: number;
  /** Runs a function after `withinMs`. Returns a function that cancels it. */
  readonly afterTimeout: (task: () => void) => () => void;
}

/** Sends a request once. Rejects if it fails or has no response in time. The connection then accepts no further calls. */
export function sendUnary<Request extends object, Response>(
  unary: Unary<Request, Response>,
): Promise<Response> {
  const { method, withinMs } = unary;
  const frame = framed(method.encode, unary.request);
  return new Promise((resolve, reject) => {
    const messages: Buffer[] = [];
    const call = new Http2Call(unary.dialer.link(), unary.headers, {
      onMessage: (message) => messages.push(message),
      onEnd: (error) => {
        stopWaiting();
        if (error) reject(error);
        else resolve(read(method, messages));
      },
    });
    const stopWaiting = unary.afterTimeout(() =>
      call.fail(new GrpcError('DEADLINE_EXCEEDED', `no response within ${withinMs} ms`)),
    );
    call.end(frame);
  });
}

/** Decodes the response. Rejects unless it is one message. */
async function read<Response>(
  { decode }: Pick<Method<unknown, Response>, 'decode'>,
  messages: readonly Buffer[],
): Promise<Response> {
  const [message] = messages;
  if (!message || messages.length > 1) throw unreadable(`${messages.length} messages instead of one`);
  try {
    return decoded(decode, message);
  } catch (error) {
    throw unreadable(error);
  }
}
