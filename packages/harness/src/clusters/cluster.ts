import { newPlace } from '../services/server-process.ts';
import { NotHere } from '../services/service.ts';
import { until } from '../services/until.ts';
import type { ChosenNetwork } from './choose-network.ts';
import { ClusterClient } from './client.ts';
import { Conditions } from './conditions.ts';
import type { Node } from './links.ts';
import { Member } from './member.ts';
import type { MemberSite, Network, NetworkKind, RareFault } from './network.ts';
import { SmallDisk } from './small-disk.ts';
import { leaderOf, type Store, type View } from './store.ts';

/** Three servers of one store on this machine. */
export class Cluster {
  readonly name: Store['name'];
  readonly network: NetworkKind;
  /** Faults that this cluster does not support, with the reasons. */
  readonly absent: ReadonlyMap<RareFault, string>;
  readonly #clients = new Map<Node, ClusterClient | undefined>();
  readonly #store: Store;
  readonly #network: Network;
  readonly #whyProxies: string | undefined;
  readonly #absent: Map<RareFault, string>;
  readonly #conditions: Conditions;
  #members: readonly Member[] = [];

  constructor(store: Store, { network, whyProxies }: ChosenNetwork) {
    this.name = store.name;
    this.network = network.way;
    this.absent = this.#absent = new Map(network.absent);
    this.#store = store;
    this.#network = network;
    this.#whyProxies = whyProxies;
    this.#conditions = new Conditions(network);
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Addresses of all members for clients in this process, in the order of `members`. They never change. */
  get endpoints(): readonly string[] {
    return this.#network.here.endpoints;
  }

  /** Version as the servers report it, for instance `3.4.23`. */
  get version(): string {
    return this.#members[0]!.version;
  }

  /**
   * Description of the cluster in the record of a test run, such as `etcd 3.4.23, three members in network
   * namespaces`.
   */
  get description(): string {
    const where = this.network === 'namespaces' ? 'in network namespaces' : 'behind proxies';
    const why = this.#whyProxies === undefined ? '' : ` (no network namespaces: ${this.#whyProxies})`;
    return `${this.name} ${this.version}, three members ${where}${why}`;
  }

  /** Whether a member did not start because another process took one of its ports. */
  get portTaken(): boolean {
    return this.#members.some((member) => member.portTaken);
  }

  /**
   * Starts all members; resolves when each of them serves requests.
   * @param diskMiB size of a separate small disk for each member's data; without it, the members have no such
   * disks
   */
  async start(diskMiB: number | undefined): Promise<void> {
    if (diskMiB === undefined) this.#absent.set('disk', 'not asked for; start the cluster with diskMiB');
    this.#members = await this.#makeMembers(diskMiB);
    await Promise.all(this.#members.map((member) => member.start()));
    await this.ready();
  }

  /**
   * Resolves when every member serves requests and all of them follow one leader.
   * @param withinMs time in milliseconds after which it rejects if a member does not serve requests. Default: 30,000
   */
  async ready(withinMs?: number): Promise<void> {
    await Promise.all(this.#members.map((member) => member.ready(withinMs)));
    await until(() => this.#findLeader(this.#members.length), {
      what: `all members of ${this.name} follow one leader`,
      withinMs: 30_000,
    });
  }

  /**
   * Resolves with the member that leads a majority and differs from `otherThan`. A former leader that was cut
   * off still reports for a while that it leads, and does not count. Rejects when there is no such member for
   * 30 s.
   */
  async leader({ otherThan }: { readonly otherThan?: Member } = {}): Promise<Member> {
    return until(
      async () => {
        const leader = await this.#findLeader(0);
        if (leader === otherThan) throw new Error(`${leader.node} still leads`);
        return leader;
      },
      { what: `a member of ${this.name} leads`, withinMs: 30_000 },
    );
  }

  /** Returns all members of the cluster except the given one. */
  others(than: Member): readonly Member[] {
    return this.#members.filter((member) => member !== than);
  }

  /** Makes a location for client processes, whose links to the members can be cut independently of other locations. */
  async addClient(): Promise<ClusterClient> {
    const node = this.#freeNode();
    const site = await this.#network.addClient(node);
    await this.#conditions.join(node);
    const client = new ClusterClient(node, site, () => this.#removeClient(node));
    this.#clients.set(node, client);
    return client;
  }

  /** Undoes every fault, starts ended servers, and resolves when all members follow one leader. @param withinMs as of `ready` */
  async recover(withinMs?: number): Promise<void> {
    await Promise.all(this.#members.map((member) => member.recover()));
    await this.ready(withinMs);
  }

  /** Ends all processes of the cluster, and removes its files and its network. Later calls do nothing. */
  async stop(): Promise<void> {
    try {
      const stopClient = async (client: ClusterClient | undefined): Promise<void> => client?.stop();
      await Promise.all([...this.#clients.values()].map(stopClient));
    } finally {
      await this.#stopMembers();
    }
  }

  async #stopMembers(): Promise<void> {
    try {
      await Promise.all(this.#members.map((member) => member.stop()));
    } finally {
      await this.#network.stop();
    }
  }

  // Reserves the lowest free number for a new client location. It does so synchronously, because the location
  // itself is created asynchronously.
  #freeNode(): Node {
    for (let number = 1; ; number += 1) {
      const node: Node = `client-${number}`;
      if (this.#clients.has(node)) continue;
      this.#clients.set(node, undefined);
      return node;
    }
  }

  async #removeClient(node: Node): Promise<void> {
    if (!this.#clients.has(node)) return;
    await this.#conditions.leave(node);
    await this.#network.removeClient(node);
    this.#clients.delete(node);
  }

  async #findLeader(followers: number): Promise<Member> {
    // Reads which role a member reports, and which leader it follows. Returns `undefined` for a member that
    // does not respond.
    const request = async (member: Member): Promise<View | undefined> =>
      member.running ? member.view().catch(() => undefined) : undefined;
    const views = await Promise.all(this.#members.map(request));
    const index = leaderOf(views);
    const term = index === undefined ? undefined : views[index]!.term;
    const inTerm = views.filter((view) => view?.term === term && view?.role !== 'none');
    if (index === undefined || inTerm.length < followers)
      throw new Error(`they say ${JSON.stringify(views)}`);
    return this.#members[index]!;
  }

  async #makeMembers(diskMiB: number | undefined): Promise<Member[]> {
    const { members: sites, here } = this.#network;
    return Promise.all(sites.map((site, index) => this.#makeMember(site, here.endpoints[index]!, diskMiB)));
  }

  async #makeMember(site: MemberSite, endpoint: string, diskMiB: number | undefined): Promise<Member> {
    const place = await newPlace(`${this.name.toLowerCase()}-${site.node}`, site);
    const disk = diskMiB === undefined ? undefined : await this.#mount(place.data, diskMiB);
    const withDisk: MemberSite =
      disk === undefined ? site : { ...site, inside: (command) => disk.inside(site.inside(command)) };
    return new Member({
      site: withDisk,
      place,
      endpoint,
      disk,
      store: this.#store,
      program: this.#store.program(withDisk, this.#network.members),
      conditions: this.#conditions,
      whyNoDisk: this.absent.get('disk') ?? '',
    });
  }

  async #mount(directory: string, sizeMiB: number): Promise<SmallDisk | undefined> {
    try {
      return await SmallDisk.mount(directory, sizeMiB);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      this.#absent.set('disk', error.message);
      return undefined;
    }
  }
}
