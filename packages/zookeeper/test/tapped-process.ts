import type { Session } from '@queuelock/core/backend';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { ZooKeeperOptions } from '@queuelock/zookeeper';
import type { Bench } from './bench.ts';
import { OpCode, noticesIn, requestsIn } from './frames.ts';

/**
 * A backend that connects through a proxy. The proxy records all requests and notifications until the test
 * reads them with `taken`.
 */
export class TappedProcess {
  readonly proxy: TcpProxy;
  readonly #backend: ReturnType<Bench['backend']>;
  #requests: number[] = [];
  #notices = 0;

  static async start(
    bench: Bench,
    server: string,
    options?: Omit<ZooKeeperOptions, 'hosts'>,
  ): Promise<TappedProcess> {
    const proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    return new TappedProcess(proxy, bench.backend(proxy.endpoint, options));
  }

  private constructor(proxy: TcpProxy, backend: ReturnType<Bench['backend']>) {
    this.proxy = proxy;
    this.#backend = backend;
    proxy.onClientData = (chunk) => {
      this.#requests.push(...requestsIn(chunk).filter((code) => code !== OpCode.ping));
    };
    proxy.onServerData = (chunk) => {
      this.#notices += noticesIn(chunk);
    };
  }

  open(): Promise<Session> {
    return this.#backend.open(10_000, new AbortController().signal);
  }

  /** Discards the requests and notifications that were recorded so far. */
  reset(): void {
    this.taken();
  }

  taken(): { readonly requests: readonly number[]; readonly notices: number } {
    const taken = { requests: this.#requests, notices: this.#notices };
    this.#requests = [];
    this.#notices = 0;
    return taken;
  }
}
