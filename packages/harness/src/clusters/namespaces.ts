import { installPackages } from '../services/install.ts';
import { assertPrepared } from '../services/prepared.ts';
import { findProgram } from '../services/programs.ts';
import { NotHere } from '../services/service.ts';
import type { Command } from '../services/child.ts';
import { firewallRules } from './firewall.ts';
import { Keeper } from './keeper.ts';
import type { LinkCut, Node, Weather } from './links.ts';
import type { ClientSite, MemberSite, Network, Ports, RareFault } from './network.ts';
import { exemptHosts, withoutHttpProxy } from './no-http-proxy.ts';
import { runTool } from './run-tool.ts';
import { claimSubnet, type Subnet } from './subnet.ts';

/**
 * Builds a network of Linux network namespaces: a router in the middle, a namespace for each member and each client, and a link from the router to
 * this process. Faults are firewall rules and packet queues of the router.
 */
export async function buildNamespaces(ports: Ports, count: number): Promise<Network> {
  await checkTools();
  const router = await Keeper.start('net');
  const network = new NamespaceNetwork(router, await claimSubnet(router), ports);
  try {
    await network.connect(count);
    return network;
  } catch (error) {
    await network.stop();
    throw error;
  }
}

async function checkTools(): Promise<void> {
  assertPrepared('network namespaces');
  if (process.platform !== 'linux') throw new NotHere('network namespaces are a thing of Linux');
  if (process.getuid?.() !== 0) throw new NotHere('only root can link network namespaces');
  const tools = ['ip', 'ss', 'tc', 'iptables-restore', 'unshare', 'nsenter'];
  const found = await Promise.all(tools.map(findProgram));
  if (found.includes(undefined)) await installPackages(['iproute2', 'iptables', 'util-linux']);
}

const DELAY_IS_NOT_HERE =
  'not in network namespaces, where tc netem would have to do it, which not every kernel has; take network: "proxies"';

class NamespaceNetwork implements Network {
  readonly way = 'namespaces';
  readonly absent: ReadonlyMap<RareFault, string> = new Map([['delay', DELAY_IS_NOT_HERE]]);
  members: readonly MemberSite[] = [];
  readonly #router: Keeper;
  readonly #subnet: Subnet;
  readonly #ports: Ports;
  readonly #keepers = new Map<Node, Keeper>();
  readonly #limited = new Set<Node>();
  #broken: ReadonlySet<string> = new Set();

  constructor(router: Keeper, subnet: Subnet, ports: Ports) {
    this.#router = router;
    this.#subnet = subnet;
    this.#ports = ports;
  }

  get here(): ClientSite {
    return this.#clientSite((command) => command);
  }

  async connect(count: number): Promise<void> {
    await this.#subnet.connectHere();
    const nodes = Array.from({ length: count }, (_, index): Node => `member-${index + 1}`);
    this.members = await Promise.all(nodes.map((node) => this.#addMember(node)));
    exemptHosts(
      process.env,
      this.members.map(({ host }) => host),
    );
  }

  async addClient(node: Node): Promise<ClientSite> {
    const keeper = await this.#add(node);
    return this.#clientSite((command) => keeper.inside(command));
  }

  async removeClient(node: Node): Promise<void> {
    await this.#subnet.disconnect(node);
    await this.#keepers.get(node)?.stop();
    this.#keepers.delete(node);
  }

  async apply(weather: Weather): Promise<void> {
    const rules = firewallRules(weather, (node) => this.#subnet.addressOf(node));
    const restore = { program: 'iptables-restore', args: ['-w'] };
    await runTool(this.#router.inside(restore), rules);
    await this.#breakConnections(weather.cuts.filter(({ as }) => as === 'reset'));
    const limits = new Map(weather.slow.map(({ member, bytesPerSecond }) => [member, bytesPerSecond]));
    for (const { node } of this.members) await this.#limit(node, limits.get(node));
  }

  async stop(): Promise<void> {
    await this.#subnet.leave();
    await Promise.all([this.#router, ...this.#keepers.values()].map((keeper) => keeper.stop()));
  }

  async #addMember(node: Node): Promise<MemberSite> {
    const keeper = await this.#add(node);
    return {
      node,
      host: this.#subnet.addressOf(node),
      ports: this.#ports.usual,
      gate: undefined,
      operatorAddress: this.#subnet.operatorAddress,
      inside: (command) => withoutHttpProxy(keeper.inside(command)),
    };
  }

  async #add(node: Node): Promise<Keeper> {
    const keeper = await Keeper.start('net');
    this.#keepers.set(node, keeper);
    await this.#subnet.connect(node, keeper);
    return keeper;
  }

  #clientSite(inside: (command: Command) => Command): ClientSite {
    return {
      endpoints: this.members.map(({ host, ports }) => `${host}:${ports[0]}`),
      inside: (command) => withoutHttpProxy(inside(command)),
    };
  }

  // Breaks the open connections of links that were cut with `reset`, at both ends: the firewall of the router
  // resets only the sender of a packet. Skips links that were already cut before, because they have no open
  // connections.
  async #breakConnections(cuts: readonly LinkCut[]): Promise<void> {
    const peersOf = new Map<Node, Set<Node>>();
    const add = (end: Node, peer: Node): void => {
      peersOf.set(end, (peersOf.get(end) ?? new Set()).add(peer));
    };
    for (const { from, to } of cuts.filter((cut) => !this.#broken.has(`${cut.from}>${cut.to}`))) {
      add(from, to);
      add(to, from);
    }
    this.#broken = new Set(cuts.map(({ from, to }) => `${from}>${to}`));
    await Promise.all([...peersOf].map(([end, peers]) => this.#killConnections(end, [...peers])));
  }

  async #killConnections(end: Node, peers: readonly Node[]): Promise<void> {
    const to = peers.map((peer) => `dst ${this.#subnet.addressOf(peer)}`).join(' or ');
    const filter = `src ${this.#subnet.addressOf(end)} and ( ${to} )`.split(' ');
    const kill = { program: 'ss', args: ['--kill', '--tcp', ...filter] };
    await runTool(this.#keepers.get(end)?.inside(kill) ?? kill);
  }

  // Limits the rate on both ends of the member's link with a queueing discipline of tc(8), so that both
  // directions are equally slow.
  async #limit(node: Node, bytesPerSecond: number | undefined): Promise<void> {
    if (bytesPerSecond === undefined && !this.#limited.has(node)) return;
    const verb = bytesPerSecond === undefined ? 'del' : 'replace';
    const queue =
      bytesPerSecond === undefined
        ? []
        : `tbf rate ${bytesPerSecond * 8}bit burst 10kb latency 400ms`.split(' ');
    const qdisc = (device: string): Command => ({
      program: 'tc',
      args: ['qdisc', verb, 'dev', device, 'root', ...queue],
    });
    await runTool(this.#router.inside(qdisc(node)));
    await runTool(this.#keepers.get(node)!.inside(qdisc('eth0')));
    if (bytesPerSecond === undefined) this.#limited.delete(node);
    else this.#limited.add(node);
  }
}
