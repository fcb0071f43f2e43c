import type { SharedTask, TaskTimeout } from '../base/shared-timeout.ts';
import { GrpcError } from '../driver/grpc-status.ts';
import { unreadable } from './call-errors.ts';
import type { Method } from './http2-methods.ts';
import type { Call, CallHeaders, CallListener, Link } from './link.ts';
import { decoded } from './wire-read.ts';
import { framed } from './wire-write.ts';

/** A unary gRPC call: one request with one response. */
export interface Unary<Request, Response> {
  readonly headers: CallHeaders;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly timeout: TaskTimeout;
}

/** Sends a request once. If the request fails or gets no response within its timeout, rejects, and the connection gets no further calls. */
export function sendUnary<Request extends object, Response>(
  link: Link,
  unary: Unary<Request, Response>,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    void new UnaryCall(link, unary, { resolve, reject });
  });
}

interface Outcome<Response> {
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

/** A request in flight. It is an object with methods, because closures would be created anew for each request. */
class UnaryCall<Request extends object, Response> implements CallListener, SharedTask {
  readonly readsAtEnd: boolean;
  readonly headers: CallHeaders;
  readonly #unary: Unary<Request, Response>;
  readonly #outcome: Outcome<Response>;
  readonly #call: Call;
  #message: Buffer | undefined;
  #messages = 0;

  constructor(link: Link, unary: Unary<Request, Response>, outcome: Outcome<Response>) {
    const { headers, method, request, timeout } = unary;
    this.#unary = unary;
    this.#outcome = outcome;
    this.headers = headers;
    this.readsAtEnd = !method.isLong && timeout.isShared;
    const frame = framed(method.encode, request);
    this.#call = link.open(this, this);
    timeout.start(this);
    this.#call.end(frame);
  }

  onMessage(message: Buffer): void {
    this.#message ??= message;
    this.#messages += 1;
  }

  onEnd(error: Error | undefined): void {
    this.#unary.timeout.cancel(this);
    if (error) this.#outcome.reject(error);
    else this.#read();
  }

  /** Starts to read a response while it arrives. A large response does not arrive in full unless the client reads it. */
  partPassed(): void {
    if (this.readsAtEnd) this.#call.readNow();
  }

  timedOut(): void {
    this.#call.fail(
      new GrpcError('DEADLINE_EXCEEDED', `no response within ${String(this.#unary.timeout.ms)} ms`),
    );
  }

  /** Decodes the response of the call. Rejects unless it is exactly one message. */
  #read(): void {
    try {
      if (!this.#message || this.#messages > 1)
        throw unreadable(`${String(this.#messages)} messages instead of one`);
      this.#outcome.resolve(decoded(this.#unary.method.decode, this.#message));
    } catch (error) {
      this.#outcome.reject(error instanceof GrpcError ? error : unreadable(error));
    }
  }
}
