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

/** A request that is held up. */
export interface LateRequest {
  /** Resolves when it has gone on to the member. */
  forwarded(): Promise<void>;
}

/** A way to each member past a proxy of this process, where what passes can be lost, held or delayed. */
export class Detour {
  /** In the order of the members. */
  readonly proxies: readonly TcpProxy[];

  private constructor(proxies: readonly TcpProxy[]) {
    this.proxies = proxies;
    running.add(this);
  }

  static async start({ endpoints }: Pick<Cluster, 'endpoints'>): Promise<Detour> {
    return new Detour(await Promise.all(endpoints.map((endpoint) => startProxy(endpoint))));
  }

  /** The members' names for whoever takes it. */
  get endpoints(): readonly string[] {
    return this.proxies.map(({ endpoint }) => endpoint);
  }

  /** Connections that were made so far. */
  get accepted(): number {
    return this.proxies.reduce((sum, { accepted }) => sum + accepted, 0);
  }

  /** As that of a proxy, on whichever of them the request comes by first. */
  loseNextReply(matches: (chunk: Buffer) => boolean): LostReply {
    const first = onlyFirst(matches);
    const traps = this.proxies.map((proxy) => proxy.loseNextReply(first));
    const lost = Promise.race(traps.map((trap) => trap.lost));
    // A test that waits for something else need not wait for it.
    lost.catch(() => undefined);
    return { seen: Promise.race(traps.map(({ seen }) => seen)), lost };
  }

  /** From this request on, all that its proxy brings to the member is so much late. Resolves when it comes by. */
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

  /** The connection breaks, and whatever is said from now on is held back until `heal`. */
  silence(connection: ProxyConnection): void {
    for (const proxy of this.proxies) proxy.toServer.hold();
    connection.cut();
  }

  /** What is said arrives, and no answer comes back until `heal`, which breaks the connections that lost one. */
  loseReplies(): void {
    for (const proxy of this.proxies) proxy.toClient.blackhole();
  }

  /** Nothing arrives on either side until `heal`. */
  loseAll(): void {
    for (const { toServer, toClient } of this.proxies) {
      toServer.blackhole();
      toClient.blackhole();
    }
  }

  /** Resets all connections. */
  cut(): void {
    for (const proxy of this.proxies) proxy.cut();
  }

  async heal(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.heal()));
  }

  async stop(): Promise<void> {
    if (running.delete(this)) await Promise.all(this.proxies.map((proxy) => proxy.stop()));
  }
}

/** For `afterEach`: when what took them has been ended, or could not be. */
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

/** What is delayed from now on; all before it went on at once. */
function lateOn(flow: Flow, ms: number): LateRequest {
  const before = flow.bytes;
  const hasGone = async (): Promise<void> => {
    if (flow.bytes === before) throw new Error('it is still held up');
  };
  return { forwarded: () => until(hasGone, { what: 'the late request goes on', withinMs: 2 * ms }) };
}
