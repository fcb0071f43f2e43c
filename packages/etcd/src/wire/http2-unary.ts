import type { SharedTask, TaskTimeout } from '../base/shared-timeout.ts';
import { GrpcError } from '../driver/grpc-status.ts';
import { MAX_REPEATS, RefusedCall, unreadable } from './call-errors.ts';
import type { Method } from './http2-methods.ts';
import type { Call, CallHeaders, CallListener, Link, LinkSource } from './link.ts';
import { decoded } from './wire-read.ts';
import { framed } from './wire-write.ts';

/** A unary gRPC call: one request with one response. */
export interface Unary<Request, Response> {
  readonly headers: CallHeaders;
  readonly method: Method<Request, Response>;
  readonly request: Request;
  readonly timeout: TaskTimeout;
  /** Provides the connection for a request that is sent again. */
  readonly links: LinkSource;
}

/**
 * Sends a request. If the request fails or gets no response within its timeout, rejects, and the connection gets no further calls. If the server refuses
 * the call without having processed it, sends the request again, within the same timeout. Other gRPC clients also do so (gRPC proposal A6, transparent
 * retries).
 */
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
  #link: Link;
  /** The call on the connection; `undefined` while a refused request waits for another connection. */
  #call: Call | undefined;
  #repeats = 0;
  #isOver = false;
  #message: Buffer | undefined;
  #messages = 0;

  constructor(link: Link, unary: Unary<Request, Response>, outcome: Outcome<Response>) {
    const { headers, method, request, timeout } = unary;
    this.#unary = unary;
    this.#outcome = outcome;
    this.headers = headers;
    this.readsAtEnd = !method.isLong && timeout.isShared;
    this.#link = link;
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
    if (error instanceof RefusedCall && this.#repeats < MAX_REPEATS) void this.#repeat();
    else this.#end(error);
  }

  /** Starts to read a response while it arrives. A large response does not arrive in full unless the client reads it. */
  partPassed(): void {
    if (this.readsAtEnd) this.#call?.readNow();
  }

  timedOut(): void {
    const { ms } = this.#unary.timeout;
    const error = new GrpcError('DEADLINE_EXCEEDED', `no response within ${String(ms)} ms`);
    if (this.#call) this.#call.fail(error);
    else this.#end(error);
  }

  /** Sends the request again, on the same connection if it still accepts calls. */
  async #repeat(): Promise<void> {
    this.#repeats += 1;
    this.#call = undefined;
    try {
      const source = this.#unary.links.link();
      this.#link = source instanceof Promise ? await source : source;
      if (this.#isOver) return;
      const { method, request } = this.#unary;
      this.#call = this.#link.open(this, this);
      this.#call.end(framed(method.encode, request));
    } catch (error) {
      this.#end(error as Error);
    }
  }

  #end(error: Error | undefined): void {
    this.#isOver = true;
    this.#unary.timeout.cancel(this);
    // A connection that refuses even repeated requests would refuse further ones too.
    if (error instanceof RefusedCall) this.#link.retire();
    if (error) this.#outcome.reject(error);
    else this.#read();
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
