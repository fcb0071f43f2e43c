import type { Cluster } from '@queuelock/harness/clusters';
import {
  startProxy,
  type Flow,
  type LostReply,
  type ProxyConnection,
  type TcpProxy,
} from '@queuelock/harness/faults';
import { until } from '@queuelock/harness/services/until';

const running = new Set<Detour>();

/** A request to a member that a proxy delays. */
export interface LateRequest {
  /** Resolves when the proxy has forwarded the request to the member. */
  forwarded(): Promise<void>;
}

/**
 * A proxy in this process before each member. It can lose data, hold data back until the fault is over, or
 * delay data by a fixed time.
 */
export class Detour {
  /** The proxies, in the order of the members before which they are. */
  readonly proxies: readonly TcpProxy[];

  private constructor(proxies: readonly TcpProxy[]) {
    this.proxies = proxies;
    running.add(this);
  }

  static async start({ endpoints }: Pick<Cluster, 'endpoints'>): Promise<Detour> {
    return new Detour(await Promise.all(endpoints.map((endpoint) => startProxy(endpoint))));
  }

  /** Addresses of the members for a worker that uses the proxies. */
  get endpoints(): readonly string[] {
    return this.proxies.map(({ endpoint }) => endpoint);
  }

  /** Number of connections that the proxies have accepted so far. */
  get accepted(): number {
    return this.proxies.reduce((sum, { accepted }) => sum + accepted, 0);
  }

  /**
   * Loses the reply to the next request that `matches` accepts, on whichever proxy receives that request. See
   * `loseNextReply` of `TcpProxy`.
   */
  loseNextReply(matches: (chunk: Buffer) => boolean): LostReply {
    const first = onlyFirst(matches);
    const traps = this.proxies.map((proxy) => proxy.loseNextReply(first));
    const lost = Promise.race(traps.map((trap) => trap.lost));
    // A test need not await the promise `lost`, so its rejection is marked as handled.
    lost.catch(() => undefined);
    return { seen: Promise.race(traps.map(({ seen }) => seen)), lost };
  }

  /**
   * Delays data to the member by `ms` milliseconds, from the next request that `matches` accepts on. Resolves
   * when that request reaches the proxy.
   */
  delayFrom(matches: (chunk: Buffer) => boolean, ms: number): Promise<LateRequest> {
    const first = onlyFirst(matches);
    return new Promise((resolve) => {
      for (const proxy of this.proxies) {
        proxy.onClientData = (chunk) => {
          if (!first(chunk)) return;
          proxy.toServer.delay(ms);
          resolve(lateOn(proxy.toServer, ms));
        };
      }
    });
  }

  /**
   * Cuts the given connection of a worker, and holds back the data of all other connections through the
   * proxies until `heal`.
   */
  silence(connection: ProxyConnection): void {
    for (const proxy of this.proxies) proxy.toServer.hold();
    connection.cut();
  }

  /**
   * Forwards requests but no responses until `heal`, which resets the connections that have lost a response.
   */
  loseReplies(): void {
    for (const proxy of this.proxies) proxy.toClient.blackhole();
  }

  /** Makes the proxies drop all data in both directions until `heal` is called. */
  loseAll(): void {
    for (const { toServer, toClient } of this.proxies) {
      toServer.blackhole();
      toClient.blackhole();
    }
  }

  /** Resets all connections through the proxies. */
  cut(): void {
    for (const proxy of this.proxies) proxy.cut();
  }

  async heal(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.heal()));
  }

  /** Ends the faults, and resets all connections, so that the clients need not find out that they have lost data. */
  async reconnect(): Promise<void> {
    await this.heal();
    this.cut();
  }

  async stop(): Promise<void> {
    if (running.delete(this)) await Promise.all(this.proxies.map((proxy) => proxy.stop()));
  }
}

/**
 * Stops all proxies of this process after a test. First calls `ending`, by which the test ends its trial, and
 * waits until that has settled. Use it in `afterEach`.
 */
export async function stopDetoursAfter(ending: () => Promise<unknown>): Promise<void> {
  try {
    await ending();
  } finally {
    await Promise.all([...running].map((detour) => detour.stop()));
  }
}

function onlyFirst(matches: (chunk: Buffer) => boolean): (chunk: Buffer) => boolean {
  let came = false;
  return (chunk) => !came && (came = matches(chunk));
}

/**
 * Returns a request whose data the proxy delays at present. The request counts as forwarded as soon as the
 * proxy forwards data of its connection to the member.
 */
function lateOn(flow: Flow, ms: number): LateRequest {
  const before = flow.bytes;
  const hasGone = async (): Promise<void> => {
    if (flow.bytes === before) throw new Error('it is still held up');
  };
  return { forwarded: () => until(hasGone, { what: 'the late request goes on', withinMs: 2 * ms }) };
}
