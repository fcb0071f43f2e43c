import type { Socket } from 'node:net';
import { ProxyConnection } from '../faults/connection.ts';
import { Flow } from '../faults/flow.ts';
import { FINE, type Node, type Weather } from './links.ts';
import { Pending, type Call } from './pending.ts';

/** All links between the parties of a cluster that runs over proxies. */
export class Wires {
  readonly #flows = new Map<string, Flow>();
  readonly #open = new Map<ProxyConnection, Call>();
  readonly #pending = new Set<Pending>();
  #weather = FINE;

  /**
   * Connects a party to the target that it requests, and transfers the data. While one of the two directions
   * is cut silently, the connection is delayed, like a TCP handshake whose packets are lost. If the party
   * disconnects during the delay, the target never sees the connection.
   */
  carry(call: Call): void {
    const pending = new Pending(call, () => this.#pending.delete(pending));
    this.#pending.add(pending);
    this.#advance(pending);
  }

  /** Applies these faults to all links, including open and pending connections. */
  apply(weather: Weather): void {
    this.#weather = weather;
    for (const [wire, flow] of this.#flows) this.#set(flow, wire);
    for (const [connection, call] of this.#open) if (this.#cutsOf(call).includes('reset')) connection.cut();
    for (const pending of [...this.#pending]) this.#advance(pending);
  }

  /** Resets all connections of a member or client. */
  drop(node: Node): void {
    for (const [connection, { from, to }] of this.#open) if (from === node || to === node) connection.cut();
  }

  #advance(pending: Pending): void {
    const cuts = this.#cutsOf(pending.call);
    if (cuts.includes('reset')) this.#refuse(pending);
    else if (cuts.includes('silence')) pending.hangUp();
    else
      pending.dial(
        (server) => this.#connect(pending, server),
        () => this.#refuse(pending),
      );
  }

  #refuse(pending: Pending): void {
    this.#pending.delete(pending);
    pending.refuse();
  }

  #connect(pending: Pending, server: Socket): void {
    const { call } = pending;
    this.#pending.delete(pending);
    pending.release();
    const connection = new ProxyConnection({
      id: this.#open.size + 1,
      client: call.client,
      target: server,
      toServer: this.#flow(call.from, call.to),
      toClient: this.#flow(call.to, call.from),
      onClientData: () => undefined,
      onServerData: () => undefined,
    });
    call.client.resume();
    this.#open.set(connection, call);
    void connection.closed.then(() => this.#open.delete(connection));
  }

  #cutsOf({ from, to }: Call): string[] {
    const ends = [from, to];
    return this.#weather.cuts
      .filter((cut) => ends.includes(cut.from) && ends.includes(cut.to))
      .map(({ as }) => as);
  }

  // Returns the `Flow` (delay, rate, cut) of the data from one party to another. All connections between the
  // two share it, whichever party opened them.
  #flow(from: Node, to: Node): Flow {
    const wire = `${from}>${to}`;
    const known = this.#flows.get(wire);
    if (known !== undefined) return known;
    const flow = new Flow();
    this.#flows.set(wire, flow);
    this.#set(flow, wire);
    return flow;
  }

  #set(flow: Flow, wire: string): void {
    const { cuts, slow } = this.#weather;
    const slowEnds = slow.filter(({ member }) => wire.split('>').includes(member));
    const silent = cuts.some(({ from, to, as }) => as === 'silence' && wire === `${from}>${to}`);
    if (flow.held && !silent) flow.heal();
    flow.delay(slowEnds.reduce((sum, { delayMs = 0 }) => sum + delayMs, 0));
    flow.limit(Math.min(...slowEnds.map(({ bytesPerSecond = Infinity }) => bytesPerSecond)));
    if (silent) flow.hold();
  }
}
