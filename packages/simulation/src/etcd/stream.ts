import type { Member, ServedStream } from './member.ts';
import type { Link } from '../link.ts';
import { GrpcError, type Channel, type ChannelListener } from '../product.ts';

/** The member's handler of one stream: it receives the requests on the stream. */
export interface Serving<Request> {
  hear(request: Request): void;
  applied(): void;
}

type Serve<Request, Response> = (report: (response: Response) => void) => Serving<Request>;

// A client drops a connection whose last ping got no response for this long, in milliseconds.
const DEAD_AFTER_MS = 5_000;

/**
 * A stream of messages between a client and a member of the simulated etcd cluster. Messages arrive in order.
 * After a lost message, all later messages are lost too.
 */
export class SimulatedStream<Request, Response> implements Channel<Request>, ServedStream {
  readonly #link: Link<Member>;
  readonly #serving: Serving<Request>;
  readonly #listener: ChannelListener<Response>;
  readonly #forget: () => void;
  readonly #life: number;
  readonly #last = { there: 0, back: 0 };
  /** Whether the client knows that the stream has ended. */
  isOver = false;
  #isLost = false;
  #isServed = true;

  constructor(link: Link<Member>, serve: Serve<Request, Response>, listener: ChannelListener<Response>) {
    this.#link = link;
    this.#listener = listener;
    this.#serving = serve((response) => this.#send('back', () => this.#receive(response)));
    this.#life = link.member.machine.life;
    this.#forget = link.onReset((reason) => {
      this.#leave();
      this.#fail(reason);
    });
    this.#send('there', () => {
      if (!this.#isServed) return;
      if (link.member.knowsLeader) link.member.streams.add(this);
      else this.end('etcdserver: no leader');
    });
  }

  write(request: Request): void {
    if (this.isOver) return;
    if (!this.#link.member.isUp || this.#life !== this.#link.member.machine.life)
      this.#link.client.do(() => this.#fail('connect: connection refused'));
    else this.#send('there', () => this.#serve(request));
  }

  close(): void {
    this.#over();
    this.#send('there', () => this.#leave());
  }

  abandon(): void {
    this.close();
  }

  applied(): void {
    this.#serving.applied();
  }

  end(reason: string): void {
    this.#leave();
    this.#link.client.do(() => this.#fail(reason));
  }

  /** Ends the stream at the member at once, because the client's process has ended. */
  drop(): void {
    this.#leave();
    this.#over();
  }

  #serve(request: Request): void {
    if (this.#isServed) this.#serving.hear(request);
  }

  #receive(response: Response): void {
    if (!this.isOver) this.#listener.onResponse(response);
  }

  #send(way: 'there' | 'back', task: () => void): void {
    const at = this.#isLost ? undefined : this.#link.arrival(way);
    if (at !== undefined) {
      this.#last[way] = Math.max(this.#last[way], at);
      this.#link.deliver(way, this.#last[way], task);
    } else if (!this.#isLost) {
      this.#isLost = true;
      this.#link.member.machine.later(DEAD_AFTER_MS, () => this.#leave());
      if (!this.isOver) this.#link.client.later(DEAD_AFTER_MS, () => this.#fail('no response to a ping'));
    }
  }

  #fail(reason: string): void {
    if (this.isOver) return;
    this.#over();
    this.#listener.onEnd(new GrpcError('UNAVAILABLE', reason));
  }

  #over(): void {
    this.isOver = true;
    this.#forget();
  }

  #leave(): void {
    this.#isServed = false;
    this.#link.member.streams.delete(this);
  }
}
