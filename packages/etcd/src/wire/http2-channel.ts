import type { Channel, ChannelListener } from '../driver/driver.ts';
import { unreadable } from './call-errors.ts';
import type { Call, CallListener } from './link.ts';
import { decoded, type Decode } from './wire-read.ts';
import { framed, type Encode } from './wire-write.ts';

/** The functions that encode the requests and decode the responses of a stream. */
export interface ChannelCodec<Request, Response> {
  readonly encode: Encode<Request>;
  readonly decode: Decode<Response>;
}

/** Opens the gRPC call that carries a stream. */
export type OpenCall = (listener: CallListener) => Promise<Call>;

/** A stream of requests and responses over HTTP/2. The constructor starts to open it. */
export class Http2Channel<Request extends object, Response> implements Channel<Request> {
  readonly #codec: ChannelCodec<Request, Response>;
  readonly #listener: ChannelListener<Response>;
  #early: Buffer[] = [];
  #call: Call | undefined;
  #isOver = false;

  constructor(open: OpenCall, codec: ChannelCodec<Request, Response>, listener: ChannelListener<Response>) {
    this.#codec = codec;
    this.#listener = listener;
    open({
      onMessage: (message) => this.#receive(message),
      onEnd: (error) => this.#end(error ?? new Error('the server ended the stream')),
    }).then(
      (call) => this.#opened(call),
      (error: unknown) => this.#end(error),
    );
  }

  write(request: Request): void {
    if (this.#isOver) return;
    const frame = framed(this.#codec.encode, request);
    if (this.#call) this.#call.write(frame);
    else this.#early.push(frame);
  }

  close(): void {
    this.#isOver = true;
    this.#call?.cancel();
  }

  abandon(): void {
    this.#isOver = true;
    this.#call?.fail();
  }

  #opened(call: Call): void {
    this.#call = call;
    if (this.#isOver) call.cancel();
    for (const frame of this.#early.splice(0)) call.write(frame);
  }

  #receive(message: Buffer): void {
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
