import type { Channel, ChannelListener } from '../driver/driver.ts';
import { MAX_REPEATS, RefusedCall, unreadable } from './call-errors.ts';
import type { Call, CallListener } from './link.ts';
import { decoded, type Decode } from './wire-read.ts';
import { framed, type Encode } from './wire-write.ts';

/** The functions that encode the requests and decode the responses of a stream. */
export interface ChannelCodec<Request, Response> {
  readonly encode: Encode<Request>;
  readonly decode: Decode<Response>;
}

/** Opens the gRPC call that carries a stream. `isLast` means that it is not opened again if the server refuses the call. */
export type OpenCall = (listener: CallListener, isLast: boolean) => Promise<Call>;

/**
 * A stream of requests and responses over HTTP/2. The constructor starts to open it. If the server refuses the call without having processed it, the
 * stream opens again, with all requests that were written so far.
 */
export class Http2Channel<Request extends object, Response> implements Channel<Request> {
  readonly #codec: ChannelCodec<Request, Response>;
  readonly #listener: ChannelListener<Response>;
  readonly #open: OpenCall;
  /** The requests that were written so far; `undefined` after the first response, since the server cannot refuse the call afterwards. */
  #written: Buffer[] | undefined = [];
  #call: Call | undefined;
  #repeats = 0;
  #isOver = false;

  constructor(open: OpenCall, codec: ChannelCodec<Request, Response>, listener: ChannelListener<Response>) {
    this.#codec = codec;
    this.#listener = listener;
    this.#open = open;
    this.#start();
  }

  write(request: Request): void {
    if (this.#isOver) return;
    const frame = framed(this.#codec.encode, request);
    this.#written?.push(frame);
    this.#call?.write(frame);
  }

  close(): void {
    this.#isOver = true;
    this.#call?.cancel();
  }

  abandon(): void {
    this.#isOver = true;
    this.#call?.fail();
  }

  #start(): void {
    const listener: CallListener = {
      onMessage: (message) => this.#receive(message),
      onEnd: (error) => this.#ended(error),
    };
    this.#open(listener, this.#repeats === MAX_REPEATS).then(
      (call) => this.#opened(call),
      (error: unknown) => this.#end(error),
    );
  }

  #opened(call: Call): void {
    this.#call = call;
    if (this.#isOver) call.cancel();
    else for (const frame of this.#written ?? []) call.write(frame);
  }

  #ended(error: Error | undefined): void {
    if (!(error instanceof RefusedCall) || this.#repeats === MAX_REPEATS || this.#isOver) {
      this.#end(error ?? new Error('the server ended the stream'));
      return;
    }
    this.#repeats += 1;
    this.#call = undefined;
    this.#start();
  }

  #receive(message: Buffer): void {
    this.#written = undefined;
    const response = this.#read(message);
    if (response !== undefined && !this.#isOver) this.#listener.onResponse(response);
  }

  #read(message: Buffer): Response | undefined {
    try {
      return decoded(this.#codec.decode, message);
    } catch (error) {
      this.#call?.fail(unreadable(error));
      return undefined;
    }
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onEnd(error);
  }
}
