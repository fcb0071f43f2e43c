import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endChild } from '../services/child.ts';
import { pickPorts } from '../services/ports.ts';
import { scriptOf } from '../services/script.ts';
import type { Node, Weather } from './links.ts';
import type { ClientSite, MemberSite, Network, Ports, RareFault } from './network.ts';
import type { MemberPorts, ProxiesResponse, ProxiesRequest } from './proxies-process.ts';

/**
 * Builds a network with members on 127.0.0.1. Each client has a separate port for each member, and each
 * member reaches the other members only through its own SOCKS port. Needs no privileges.
 */
export async function buildProxies({ usual }: Ports, count: number): Promise<Network> {
  const proxies = new Proxies();
  try {
    const picked = await pickPorts(usual.length * count);
    const members = Array.from({ length: count }, (_, index): MemberPorts => {
      const at = index * usual.length;
      return { node: `member-${index + 1}`, ports: picked.slice(at, at + usual.length) };
    });
    const gates = await Promise.all(members.map(({ node }) => proxies.ask({ do: 'gate', node, members })));
    const sites = members.map((member, index) => site(member, gates[index]![0]!));
    const network = new ProxyNetwork(proxies, sites);
    network.here = await network.addClient('client-0');
    return network;
  } catch (error) {
    await proxies.stop();
    throw error;
  }
}

function site(member: MemberPorts, gate: number): MemberSite {
  return {
    ...member,
    host: '127.0.0.1',
    gate,
    operatorAddress: undefined,
    inside: (command) => command,
  };
}

class ProxyNetwork implements Network {
  readonly way = 'proxies';
  readonly absent: ReadonlyMap<RareFault, string> = new Map([
    ['loss', 'a proxy carries bytes, not packets; take network: "namespaces"'],
  ]);
  readonly members: readonly MemberSite[];
  here!: ClientSite;
  readonly #proxies: Proxies;

  constructor(proxies: Proxies, members: readonly MemberSite[]) {
    this.#proxies = proxies;
    this.members = members;
  }

  async addClient(node: Node): Promise<ClientSite> {
    const members = this.members.map(({ node: member, ports }) => ({ node: member, ports }));
    const ports = await this.#proxies.ask({ do: 'doors', node, members });
    return { endpoints: ports.map((port) => `127.0.0.1:${port}`), inside: (command) => command };
  }

  async removeClient(node: Node): Promise<void> {
    await this.#proxies.ask({ do: 'remove', node });
  }

  async apply(weather: Weather): Promise<void> {
    await this.#proxies.ask({ do: 'apply', weather });
  }

  async stop(): Promise<void> {
    await this.#proxies.stop();
  }
}

/** The separate process that runs all proxies of one cluster. */
class Proxies {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (response: ProxiesResponse) => void>();
  readonly #ended: Promise<ProxiesResponse>;
  #requested = 0;

  constructor() {
    const source = fileURLToPath(new URL('./proxies-process.ts', import.meta.url));
    const { script, execArgv } = scriptOf(source);
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
    this.#child = fork(script, { execArgv: [...execArgv], stdio: [...stdio] });
    this.#child.on('message', (response: ProxiesResponse) => this.#waiting.get(response.id)?.(response));
    this.#ended = once(this.#child, 'exit').then(
      (ending) => ({ id: 0, error: `the process of the proxies ended (${ending.join(' ')})` }),
      (error: unknown) => ({ id: 0, error: String(error) }),
    );
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /**
   * Sends a request to the process of the proxies. Resolves with the ports that the process has opened for
   * the request.
   */
  async ask(request: ProxiesRequest): Promise<readonly number[]> {
    const id = (this.#requested += 1);
    const answered = new Promise<ProxiesResponse>((resolve) => this.#waiting.set(id, resolve));
    this.#child.channel?.ref();
    this.#child.send({ id, request });
    const { error, ports = [] } = await Promise.race([answered, this.#ended]);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#child.channel?.unref();
    if (error !== undefined) throw new Error(error);
    return ports;
  }

  async stop(): Promise<void> {
    await endChild(this.#child, 'SIGKILL');
  }
}
