import { randomInt } from 'node:crypto';
import type { Keeper } from './keeper.ts';
import { isMember, type Node } from './links.ts';
import { runTool } from './run-tool.ts';

// 198.18.0.0/15 is reserved for tests of networks (RFC 2544); its upper half has 256 networks of 256 addresses.
const NETWORKS = '198.19';
const ROUTER = 250;
const HERE = 1;
const OPERATOR = 2;
const FIRST_MEMBER = 11;
const FIRST_CLIENT = 21;
const MAX_CLIENTS = ROUTER - FIRST_CLIENT;

/**
 * Claims a network of 256 addresses that no other process of the machine uses. The name of the link contains
 * the number of the network, and the kernel gives a name to one link only. Rejects with NotHere when such a
 * link cannot be made.
 */
export async function claimSubnet(router: Keeper): Promise<Subnet> {
  for (let attempt = 1; ; attempt += 1) {
    const subnet = new Subnet(router, randomInt(256));
    try {
      await subnet.claim();
      return subnet;
    } catch (error) {
      if (attempt < 5 && /File exists/.test(String(error))) continue;
      await router.stop();
      throw error;
    }
  }
}

/**
 * The subnet of a cluster: the addresses of its parties, and their links to the router. Every packet between
 * two parties passes the router.
 */
export class Subnet {
  readonly #router: Keeper;
  readonly #prefix: string;
  readonly #link: string;
  #claimed = false;

  constructor(router: Keeper, number: number) {
    this.#router = router;
    this.#prefix = `${NETWORKS}.${number}`;
    this.#link = `queuelock${number}`;
  }

  /**
   * The address from which the harness sends its own requests. The test's clients use the address of
   * `client-0`, which faults may affect.
   */
  get operatorAddress(): string {
    return this.#at(OPERATOR);
  }

  addressOf(node: Node): string {
    const number = Number(node.replace(/^.*-/, ''));
    if (isMember(node)) return this.#at(FIRST_MEMBER - 1 + number);
    const last = number === 0 ? HERE : FIRST_CLIENT - 1 + number;
    if (last >= ROUTER) throw new RangeError(`${node}: a cluster has addresses for ${MAX_CLIENTS} clients`);
    return this.#at(last);
  }

  async claim(): Promise<void> {
    await ip([`link add ${this.#link} type veth peer name here netns ${this.#router.pid}`]);
    this.#claimed = true;
  }

  /** Creates the link between the test process and the router. */
  async connectHere(): Promise<void> {
    const [here, operator, gateway] = [HERE, OPERATOR, ROUTER].map((last) => this.#at(last));
    await ip(
      [
        'link set lo up',
        `addr add ${gateway}/32 dev lo`,
        'link set here up',
        `route add ${here}/32 dev here`,
        `route add ${operator}/32 dev here`,
      ],
      this.#router,
    );
    const forward = { program: 'sh', args: ['-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward'] };
    await runTool(this.#router.inside(forward));
    await ip([
      `addr add ${here}/32 dev ${this.#link}`,
      `addr add ${operator}/32 dev ${this.#link}`,
      `link set ${this.#link} up`,
      `route add ${this.#at(0)}/24 via ${gateway} dev ${this.#link} onlink src ${here}`,
    ]);
  }

  /**
   * Creates the link between the namespace of a member or client and the router. The router's end of the link
   * has the name of that member or client.
   */
  async connect(node: Node, place: Keeper): Promise<void> {
    const address = this.addressOf(node);
    await ip(
      [
        `link add ${node} type veth peer name eth0 netns ${place.pid}`,
        `link set ${node} up`,
        `route add ${address}/32 dev ${node}`,
      ],
      this.#router,
    );
    await ip(
      [
        'link set lo up',
        `addr add ${address}/32 dev eth0`,
        'link set eth0 up',
        `route add default via ${this.#at(ROUTER)} dev eth0 onlink`,
      ],
      place,
    );
  }

  /**
   * Removes the link of a party at once, so that its name is free again. Otherwise the kernel would remove
   * the link later, with the namespace.
   */
  async disconnect(node: Node): Promise<void> {
    await ip([`link del ${node}`], this.#router);
  }

  /**
   * Removes this process's own link to the router. The kernel removes all other links with their namespaces.
   */
  async leave(): Promise<void> {
    if (!this.#claimed) return;
    this.#claimed = false;
    await ip([`link del ${this.#link}`]);
  }

  #at(last: number): string {
    return `${this.#prefix}.${last}`;
  }
}

/**
 * Runs commands of ip(8), one per line, in the namespaces of `place`. Without `place`, runs them in those of
 * this process.
 */
async function ip(lines: readonly string[], place?: Keeper): Promise<void> {
  const batch = { program: 'ip', args: ['-batch', '-'] };
  await runTool(place?.inside(batch) ?? batch, lines.map((line) => `${line}\n`).join(''));
}
