import type { Command } from '../services/child.ts';
import type { Node, Weather } from './links.ts';

/** `namespaces`: the kernel's network with a namespace for each party. `proxies`: loopback, with a proxy for each link. */
export type NetworkKind = 'namespaces' | 'proxies';

/** Faults that not every network or machine supports: delays, lost packets and full disks. */
export type RareFault = 'delay' | 'loss' | 'disk';

/** A member's location in the network: its addresses and ports, and how to start a program there. */
export interface MemberSite {
  readonly node: Node;
  /** IP address that the member's server binds. */
  readonly host: string;
  /** Ports of the member's server; the first one is for clients. */
  readonly ports: readonly number[];
  /** Port on 127.0.0.1 of the SOCKS proxy that the member's connections to other members must use, if any. */
  readonly gate: number | undefined;
  /** Source address of the harness's own requests to the member, which no fault affects. */
  readonly operatorAddress: string | undefined;
  /** Returns a command that runs the program of `command` at the member's location. */
  inside(command: Command): Command;
}

/** A client's location in the network: how a program there reaches the members, and how to start it. */
export interface ClientSite {
  /** Addresses `host:port` of the members for this client, in the order of the members. */
  readonly endpoints: readonly string[];
  /** Returns a command that runs the program of `command` at the client's location. */
  inside(command: Command): Command;
}

export interface Network {
  readonly way: NetworkKind;
  readonly members: readonly MemberSite[];
  /** The location of the test process itself, which is the client `client-0`. */
  readonly here: ClientSite;
  /** Faults that this network does not support, with the reasons. */
  readonly absent: ReadonlyMap<RareFault, string>;
  addClient(node: Node): Promise<ClientSite>;
  removeClient(node: Node): Promise<void>;
  /**
   * Applies the given faults in place of all earlier ones; resolves when they are in force. The caller must
   * wait for the end of a call before the next one.
   */
  apply(weather: Weather): Promise<void>;
  /**
   * Removes the network. Before that the caller must end all members, and all processes that run at the
   * location of a client.
   */
  stop(): Promise<void>;
}

/** Ports that each member of a cluster needs. */
export interface Ports {
  /**
   * The usual ports of the store's servers, for members with an IP address of their own; the first one is for
   * clients.
   */
  readonly usual: readonly number[];
}

/** A fault that this network or this machine does not support; the message contains the reason. */
export class FaultAbsent extends Error {
  override readonly name = 'FaultAbsent';
  readonly fault: RareFault;

  constructor(fault: RareFault, why: string) {
    super(`${fault}: ${why}`);
    this.fault = fault;
  }
}
