import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { dyingWithParent, endChild, type Command } from '../services/child.ts';
import { reapAtExit } from '../services/reaper.ts';
import type { Node } from './links.ts';
import type { ClientSite } from './network.ts';

/**
 * A location in the network of the cluster, in which client processes run. Its links to the members can be
 * cut one by one.
 */
export class ClusterClient {
  readonly node: Node;
  /**
   * Addresses `host:port` of the members for processes in this location, in the order of the members. They
   * never change.
   */
  readonly endpoints: readonly string[];
  readonly #site: ClientSite;
  readonly #remove: () => Promise<void>;
  readonly #children = new Map<ChildProcess, () => void>();

  constructor(node: Node, site: ClientSite, remove: () => Promise<void>) {
    this.node = node;
    this.endpoints = site.endpoints;
    this.#site = site;
    this.#remove = remove;
  }

  /**
   * Starts a program in this location. Options are those of `spawn`, including `ipc` in `stdio`. The pid of
   * the child is that of the program, and signals reach the program. The program ends when the location is
   * stopped, and on Linux also when this process ends.
   */
  async exec(program: string, args: readonly string[], options: SpawnOptions = {}): Promise<ChildProcess> {
    const command = await this.#command({ program, args });
    const env = { ...(options.env ?? process.env), ...command.env };
    const child = spawn(command.program, command.args, { ...options, env });
    const takeBack = reapAtExit({
      get pid() {
        return child.exitCode === null && child.signalCode === null ? child.pid : undefined;
      },
    });
    this.#children.set(child, takeBack);
    child.once('exit', () => this.#forget(child));
    return child;
  }

  /** Kills the processes that run in this location (SIGKILL), and removes the location. */
  async stop(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((child) => endChild(child, 'SIGKILL')));
    await this.#remove();
  }

  async #command(command: Command): Promise<Command> {
    const inside = this.#site.inside(command);
    return { ...inside, ...(await dyingWithParent(inside)) };
  }

  #forget(child: ChildProcess): void {
    this.#children.get(child)?.();
    this.#children.delete(child);
  }
}
