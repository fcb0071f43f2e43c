import type { Command } from '../services/child.ts';
import type { Node, Weather } from './links.ts';

/** `namespaces`: the kernel's own network, a namespace per party. `proxies`: loopback, each link through a proxy of ours. */
export type NetworkWay = 'namespaces' | 'proxies';

/** Faults that not every network or machine can do. */
export type RareFault = 'delay' | 'loss' | 'disk';

/** Where a member lives. */
export interface MemberSite {
  readonly node: Node;
  /** The address that it binds. */
  readonly host: string;
  /** The first one is for clients. */
  readonly ports: readonly number[];
  /** The port on 127.0.0.1 of a SOCKS5 gate that its connections to other members have to take, if they have to. */
  readonly gate: number | undefined;
  /** Comes from here, a request to the member is cut off by no fault: for the harness alone. */
  readonly operatorAddress: string | undefined;
  /** The same command, run where the member lives. */
  inside(command: Command): Command;
}

/** Where a client lives. */
export interface ClientSite {
  /** The members as this client calls them, `host:port`, in the order of the members. */
  readonly endpoints: readonly string[];
  /** The same command, run where the client lives. */
  inside(command: Command): Command;
}

export interface Network {
  readonly way: NetworkWay;
  readonly members: readonly MemberSite[];
  /** This process, `client-0`. */
  readonly here: ClientSite;
  /** What it cannot do, and why. */
  readonly absent: ReadonlyMap<RareFault, string>;
  addClient(node: Node): Promise<ClientSite>;
  removeClient(node: Node): Promise<void>;
  /** Makes the network like this; resolves when it is. One at a time. */
  apply(weather: Weather): Promise<void>;
  /** Takes everything away. Members and what runs at clients must be gone before. */
  stop(): Promise<void>;
}

/** Which ports each member of a store needs. */
export interface Ports {
  /** The usual ones, where each member has an address of its own; the first one is for clients. */
  readonly usual: readonly number[];
}

/** A fault that this network or this machine cannot do; the message says why. */
export class FaultAbsent extends Error {
  override readonly name = 'FaultAbsent';
  readonly fault: RareFault;

  constructor(fault: RareFault, why: string) {
    super(`${fault}: ${why}`);
    this.fault = fault;
  }
}
