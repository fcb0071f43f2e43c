import { ServerProcess, type Place, type ServerProgram } from '../services/server-process.ts';
import type { Conditions } from './conditions.ts';
import { DutyCycle, type Duty } from './duty-cycle.ts';
import type { CutAs, Direction, Node, Peers, Slowness } from './links.ts';
import { FaultAbsent, type MemberSite } from './network.ts';
import type { SmallDisk } from './small-disk.ts';
import { routeOf, type Role, type Store, type View } from './store.ts';

export interface CutOptions {
  /**
   * Selects the links to cut, by their other ends. Default: `all`. A member or client selects only the link
   * to it.
   */
  readonly from?: Peers | { readonly node: Node };
  /** Direction as seen from this member: `in` loses what it receives, `out` what it sends. Default `both`. */
  readonly direction?: Direction;
  /** Effect of the cut: data is lost silently (`silence`, the default), or connections break (`reset`). */
  readonly as?: CutAs;
}

export interface SlowOptions extends Slowness {
  /** Freezes the member's process again and again, typically for 200 ms, after which it runs for 200 ms. */
  readonly duty?: Duty;
}

export interface MemberParts {
  readonly site: MemberSite;
  readonly place: Place;
  readonly store: Store;
  readonly program: ServerProgram;
  readonly conditions: Conditions;
  /** Address `host:port` by which clients in the test process reach the member. */
  readonly endpoint: string;
  readonly disk: SmallDisk | undefined;
  readonly whyNoDisk: string;
}

/** One server of a cluster, and its faults. */
export class Member {
  readonly node: Node;
  /** Address `host:port` for clients in this process. It never changes. */
  readonly endpoint: string;
  /** Temporary directory of the member, with its output in `server.log`. Removed when the cluster stops. */
  readonly directory: string;
  readonly #parts: MemberParts;
  readonly #process: ServerProcess;
  #duty: DutyCycle | undefined;

  constructor(parts: MemberParts) {
    this.node = parts.site.node;
    this.endpoint = parts.endpoint;
    this.directory = parts.place.directory;
    this.#parts = parts;
    this.#process = new ServerProcess(parts.program, parts.place);
  }

  /**
   * Process id of the member's server; another one after a restart. Throws when the server has no process.
   */
  get pid(): number {
    return this.#process.pid;
  }

  get running(): boolean {
    return this.#process.running;
  }

  /** Version as the server reports it; empty before its first response. */
  get version(): string {
    return this.#process.version;
  }

  /** Whether the log reports that another process has one of the member's ports. */
  get portTaken(): boolean {
    return this.#process.portTaken();
  }

  /** Crashes the member (SIGKILL). Resolves when it has ended. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Freezes the member (SIGSTOP): connections stay open and get no response. Resolves when it is stopped. Also ends repeated freezes (`duty`). */
  async freeze(): Promise<void> {
    this.#endDuty();
    await this.#process.freeze();
  }

  /** Resumes the process of the member after a call of `freeze`. */
  thaw(): Promise<void> {
    return this.#process.thaw();
  }

  /**
   * Starts the member again on its data after it ended. Does not wait for a response; see `ready`.
   * @param env additional environment variables for this start
   */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.running) throw new Error(`${this.node} runs; kill it before it can start`);
    await this.#process.spawn(env);
  }

  /**
   * Resolves when the member serves requests, which requires a majority that it can reach.
   * @param withinMs time in milliseconds after which it rejects. Default: 30,000
   */
  ready(withinMs?: number): Promise<void> {
    return this.#process.answers(withinMs);
  }

  /** Ends the member (SIGTERM) if it runs, and starts it on the same data. Resolves when it serves requests. */
  restart(): Promise<void> {
    return this.#process.restart();
  }

  /** Cuts links of the member, in addition to other cuts. Resolves with a function that undoes only this cut. */
  async cut({ from = 'all', direction = 'both', as = 'silence' }: CutOptions = {}): Promise<
    () => Promise<void>
  > {
    const peers = typeof from === 'string' ? from : from.node;
    return this.#parts.conditions.cut({ member: this.node, from: peers, direction, as });
  }

  /**
   * Slows the member down. Replaces an earlier slowness. Rejects with FaultAbsent for a kind of slowness that
   * this network does not support.
   */
  async slow({ duty, ...slowness }: SlowOptions): Promise<void> {
    await this.#parts.conditions.slow(this.node, slowness);
    this.#endDuty();
    if (duty !== undefined) this.#duty = new DutyCycle((signal) => this.#process.signal(signal), duty);
  }

  /** Ends all cuts of the member's links, and all slowness of the member. */
  async heal(): Promise<void> {
    this.#endDuty();
    await this.#parts.conditions.heal([this.node]);
  }

  /**
   * Fills the small disk that the member's data is on. etcd ends at the next writes; ZooKeeper ends or stays without participating. Rejects with
   * FaultAbsent when the data is not on a small disk.
   */
  async fillDisk(): Promise<void> {
    await this.#disk().fill();
  }

  /** Undoes `fillDisk`. A server that ended has to be started again. */
  async freeDisk(): Promise<void> {
    await this.#disk().free();
  }

  /**
   * Resolves with the member's own view of its role. Faults of the network do not affect this request. Rejects when the member does not respond
   * within 500 ms.
   */
  async role(): Promise<Role> {
    return (await this.view()).role;
  }

  view(): Promise<View> {
    const { store, site, disk, place } = this.#parts;
    return store.view({ route: routeOf(site), data: disk?.seen ?? place.data });
  }

  /**
   * Undoes all faults of the member, and starts the member if its process has ended. Does not wait for a
   * response.
   */
  async recover(): Promise<void> {
    await this.heal();
    await this.#parts.disk?.free();
    if (this.running) await this.thaw();
    else await this.start();
  }

  /** Ends the member and removes its data. */
  async stop(): Promise<void> {
    this.#endDuty();
    await this.kill();
    await this.#parts.disk?.unmount();
    await this.#process.stop();
  }

  #disk(): SmallDisk {
    if (this.#parts.disk === undefined) throw new FaultAbsent('disk', this.#parts.whyNoDisk);
    return this.#parts.disk;
  }

  #endDuty(): void {
    this.#duty?.stop();
    this.#duty = undefined;
  }
}
