import { ServerProcess, type Place, type ServerProgram } from '../services/server-process.ts';
import type { Conditions } from './conditions.ts';
import { DutyCycle, type Duty } from './duty-cycle.ts';
import type { CutAs, Direction, Node, Peers, Slowness } from './links.ts';
import { FaultAbsent, type MemberSite } from './network.ts';
import type { SmallDisk } from './small-disk.ts';
import { routeOf, type Role, type Store, type View } from './store.ts';

export interface CutOptions {
  /** The other ends of the links that are cut; `all` without it. A member or a client may be given itself. */
  readonly from?: Peers | { readonly node: Node };
  /** As seen from this member: `in` loses what comes, `out` what it sends; `both` without it. */
  readonly direction?: Direction;
  /** `silence` without it, see CutAs. */
  readonly as?: CutAs;
}

export interface SlowOptions extends Slowness {
  /** Lets the process itself run for a part of the time only; the usual slow member is 200 ms of each. */
  readonly duty?: Duty;
}

export interface MemberParts {
  readonly site: MemberSite;
  readonly place: Place;
  readonly store: Store;
  readonly program: ServerProgram;
  readonly conditions: Conditions;
  /** As this process calls it. */
  readonly endpoint: string;
  readonly disk: SmallDisk | undefined;
  readonly whyNoDisk: string;
}

/** One server of a cluster, and the faults that can be done to it. */
export class Member {
  readonly node: Node;
  /** For clients in this process, `host:port`; the same for the whole life. */
  readonly endpoint: string;
  /** Its temporary directory, with everything that it printed in `server.log`. Gone after the cluster stopped. */
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

  /** The present process; another one after a restart. Throws when there is none. */
  get pid(): number {
    return this.#process.pid;
  }

  get running(): boolean {
    return this.#process.running;
  }

  /** As the server says it; empty before it answered for the first time. */
  get version(): string {
    return this.#process.version;
  }

  /** Whether the log says that somebody else has one of its ports. */
  get portTaken(): boolean {
    return this.#process.portTaken();
  }

  /** Crashes it (SIGKILL). Resolves when it is gone. */
  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Stands still (SIGSTOP): connections stay open and nothing answers. Resolves when it does. Ends a duty cycle. */
  async freeze(): Promise<void> {
    this.#endDuty();
    await this.#process.freeze();
  }

  /** Undoes `freeze`. */
  thaw(): Promise<void> {
    return this.#process.thaw();
  }

  /**
   * Starts it on the data that is there after it ended; `env`: besides this process's own, this time only. Does not wait
   * until it answers, see `ready`.
   */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.running) throw new Error(`${this.node} runs; kill it before it can start`);
    await this.#process.spawn(env);
  }

  /** Resolves when it serves requests, which takes a majority that it can reach. Rejects after 30 s. */
  ready(): Promise<void> {
    return this.#process.answers();
  }

  /** Ends it (SIGTERM) if it runs, and starts it on the same data. Resolves when it serves requests. */
  restart(): Promise<void> {
    return this.#process.restart();
  }

  /** Cuts it off, in addition to what is cut already. Resolves when it is, with the way to undo this cut alone. */
  async cut({ from = 'all', direction = 'both', as = 'silence' }: CutOptions = {}): Promise<
    () => Promise<void>
  > {
    const peers = typeof from === 'string' ? from : from.node;
    return this.#parts.conditions.cut({ member: this.node, from: peers, direction, as });
  }

  /** Slows it down, in place of how slow it was. Rejects with FaultAbsent on what this network cannot do. */
  async slow({ duty, ...slowness }: SlowOptions): Promise<void> {
    await this.#parts.conditions.slow(this.node, slowness);
    this.#endDuty();
    if (duty !== undefined) this.#duty = new DutyCycle((signal) => this.#process.signal(signal), duty);
  }

  /** Undoes `cut` and `slow`. */
  async heal(): Promise<void> {
    this.#endDuty();
    await this.#parts.conditions.heal([this.node]);
  }

  /**
   * Takes all space of the small disk that its data is on. With the next writes etcd ends; ZooKeeper ends or stays and
   * takes no part. Rejects with FaultAbsent when it is not on a small disk.
   */
  async fillDisk(): Promise<void> {
    await this.#disk().fill();
  }

  /** Undoes `fillDisk`. A server that ended has to be started again. */
  async freeDisk(): Promise<void> {
    await this.#disk().free();
  }

  /** What it believes itself, asked past all faults of the network. Rejects when it does not answer within 500 ms. */
  async role(): Promise<Role> {
    return (await this.view()).role;
  }

  view(): Promise<View> {
    const { store, site, disk, place } = this.#parts;
    return store.view({ route: routeOf(site), data: disk?.seen ?? place.data });
  }

  /** Undoes everything and starts it if it ended. Does not wait until it answers. */
  async recover(): Promise<void> {
    await this.heal();
    await this.#parts.disk?.free();
    if (this.running) await this.thaw();
    else await this.start();
  }

  /** Ends it and removes its data. */
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
