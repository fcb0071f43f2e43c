import type { ILeaseKeepAliveRequest, ILeaseKeepAliveResponse, IWatchRequest, IWatchResponse } from 'etcd3';
import type { Api, Method } from './api.ts';
import type { Member } from './member.ts';
import { WatchProxy } from './watch-proxy.ts';
import { WatchServer } from './watch-server.ts';
import type { Link } from '../link.ts';
import { GrpcError, type CallOptions, type Channel, type ChannelListener, type Driver } from '../product.ts';
import type { Random } from '../random.ts';
import { SimulatedStream, type Serving } from './stream.ts';

/** Called with every request that a client sends to a member that is running. */
type OnSent = (method: string, request: unknown) => void;

/** Options of a simulated etcd driver. */
export interface DriverOptions {
  readonly onSent: OnSent;
  /**
   * Random numbers for the order in which a grpc-proxy starts watches. `undefined` for a direct connection.
   */
  readonly proxyOrder?: Random | undefined;
}

/** A client's connection to one member. */
export class SimulatedDriver implements Driver {
  readonly #link: Link<Member>;
  readonly #api: Api;
  readonly #options: DriverOptions;
  readonly #streams = new Set<Pick<SimulatedStream<unknown, unknown>, 'close' | 'drop'>>();
  readonly #beats = new Set<{ readonly isOver: boolean }>();
  readonly #pending = new Set<(error: Error) => void>();
  #isClosed = false;

  readonly range = this.#unary('range') as Driver['range'];
  readonly put = this.#unary('put') as Driver['put'];
  readonly deleteRange = this.#unary('deleteRange') as Driver['deleteRange'];
  readonly txn = this.#unary('txn') as Driver['txn'];
  readonly leaseGrant = this.#unary('leaseGrant') as Driver['leaseGrant'];
  readonly leaseRevoke = this.#unary('leaseRevoke') as Driver['leaseRevoke'];
  readonly leaseTimeToLive = this.#unary('leaseTimeToLive') as Driver['leaseTimeToLive'];

  constructor(link: Link<Member>, api: Api, options: DriverOptions) {
    this.#link = link;
    this.#api = api;
    this.#options = options;
  }

  /** Number of open keepalive streams. */
  get beats(): number {
    return [...this.#beats].filter(({ isOver }) => !isOver).length;
  }

  status(options: CallOptions): ReturnType<Driver['status']> {
    return this.#unary('status')({}, options) as ReturnType<Driver['status']>;
  }

  watch(listener: ChannelListener<IWatchResponse>): Channel<IWatchRequest> {
    this.#count('watch', {});
    const { member } = this.#api;
    const { proxyOrder } = this.#options;
    const mayRead = (): boolean => !this.#api.isDenied;
    const serve = (report: (response: IWatchResponse) => void): Serving<IWatchRequest> => {
      const server = new WatchServer(member, report, mayRead);
      return proxyOrder ? new WatchProxy(server, member.machine, proxyOrder) : server;
    };
    return this.#open(serve, listener);
  }

  keepAlive(listener: ChannelListener<ILeaseKeepAliveResponse>): Channel<ILeaseKeepAliveRequest> {
    this.#count('keepAlive', {});
    const applied = (): void => undefined;
    const stream = this.#open(
      (tell) => ({ applied, hear: (request: ILeaseKeepAliveRequest) => this.#api.keepAlive(request, tell) }),
      listener,
    );
    this.#beats.add(stream);
    return stream;
  }

  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.close();
    for (const fail of [...this.#pending]) fail(new Error('the client was already closed'));
  }

  /**
   * Ends all streams of the client without a message to the members, as when the client's process is killed.
   */
  crash(): void {
    for (const stream of this.#streams) stream.drop();
  }

  #count(method: string, request: unknown): void {
    if (this.#link.member.isUp) this.#options.onSent(method, request);
  }

  #open<Request, Response>(
    serve: ConstructorParameters<typeof SimulatedStream<Request, Response>>[1],
    listener: ChannelListener<Response>,
  ): SimulatedStream<Request, Response> {
    const stream = new SimulatedStream(this.#link, serve, listener);
    this.#streams.add(stream);
    return stream;
  }

  #unary(method: Method): (request: unknown, options: CallOptions) => Promise<unknown> {
    return (request, options) => this.#request(method, request, options);
  }

  #request(method: Method, request: unknown, { withinMs }: CallOptions): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error('the client was already closed'));
    this.#count(method, request);
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        done();
        reject(error);
      };
      const done = (): void => {
        cancel();
        forget();
        this.#pending.delete(fail);
      };
      const cancel = this.#link.client.after(withinMs, () =>
        fail(new GrpcError('DEADLINE_EXCEEDED', `no response within ${withinMs} ms`)),
      );
      const forget = this.#link.onReset((reason) => fail(new GrpcError('UNAVAILABLE', reason)));
      this.#pending.add(fail);
      this.#send(method, request, (reply) => {
        if (!this.#pending.has(fail)) return;
        if (reply instanceof Error) fail(reply);
        else {
          done();
          resolve(reply);
        }
      });
    });
  }

  #send(method: Method, request: unknown, receive: (reply: object) => void): void {
    const link = this.#link;
    if (!link.member.isUp) {
      link.client.later(1, () => receive(new GrpcError('UNAVAILABLE', 'connect: connection refused')));
      return;
    }
    const times = link.times();
    const at = times > 0 ? link.arrival('there') : undefined;
    if (at === undefined) return;
    // Delivers a repeated request together with the original. A later repetition is not simulated, since
    // queuelock does not support proxies that repeat a request later.
    for (let time = 0; time < times; time += 1)
      link.deliver('there', at, () =>
        this.#api.handle(method, request, (reply) => {
          const back = link.isReplyLost ? undefined : link.arrival('back');
          if (back !== undefined) link.deliver('back', back, () => receive(reply));
        }),
      );
  }
}
