import { linkCuts, type Cut, type Node, type Slowness, type Weather } from './links.ts';
import { FaultAbsent, type Network } from './network.ts';

/**
 * Keeps the list of a network's faults that are in force. The promise of a change resolves when the change
 * has taken effect.
 */
export class Conditions {
  readonly #network: Network;
  readonly #nodes: Node[];
  #cuts: readonly Cut[] = [];
  readonly #slow = new Map<Node, Slowness>();
  #applied: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(network: Network) {
    this.#network = network;
    this.#nodes = [...network.members.map(({ node }) => node), 'client-0'];
  }

  /** Adds a cut of connections. Resolves with a function that undoes only this cut. */
  async cut(cut: Cut): Promise<() => Promise<void>> {
    this.#cuts = [...this.#cuts, cut];
    await this.#apply();
    return () => {
      this.#cuts = this.#cuts.filter((other) => other !== cut);
      return this.#apply();
    };
  }

  /** Sets how slow the links of a member are, in place of an earlier setting. */
  async slow(member: Node, slowness: Slowness): Promise<void> {
    this.#check(slowness);
    this.#slow.set(member, slowness);
    await this.#apply();
  }

  /** Undoes the faults of these members. A link stays cut if a fault of the member at its other end also cuts it. */
  heal(members: readonly Node[]): Promise<void> {
    this.#cuts = this.#cuts.filter(({ member }) => !members.includes(member));
    for (const member of members) this.#slow.delete(member);
    return this.#apply();
  }

  /**
   * Adds a client to the network. Cuts that apply to all clients apply to the new client too, also those
   * already in force.
   */
  join(client: Node): Promise<void> {
    this.#nodes.push(client);
    return this.#apply();
  }

  leave(client: Node): Promise<void> {
    this.#nodes.splice(this.#nodes.indexOf(client), 1);
    return this.#apply();
  }

  #check({ delayMs = 0, bytesPerSecond = Infinity, lossRatio = 0 }: Slowness): void {
    if (!(delayMs >= 0 && delayMs < 2 ** 31)) throw new RangeError(`delayMs: ${delayMs} is not a time`);
    if (!(bytesPerSecond >= 1)) throw new RangeError(`bytesPerSecond: ${bytesPerSecond} is less than 1`);
    if (!(lossRatio >= 0 && lossRatio <= 1))
      throw new RangeError(`lossRatio: ${lossRatio} is not from 0 to 1`);
    const { absent } = this.#network;
    const [noDelay, noLoss] = [absent.get('delay'), absent.get('loss')];
    if (delayMs > 0 && noDelay !== undefined) throw new FaultAbsent('delay', noDelay);
    if (lossRatio > 0 && noLoss !== undefined) throw new FaultAbsent('loss', noLoss);
  }

  // Applies all faults that are in force. Only one change of the network runs at a time. All calls that arrive
  // during a change resolve with one further change, which starts afterwards.
  #apply(): Promise<void> {
    const next = (): Promise<void> => {
      this.#waiting = undefined;
      return this.#network.apply(this.#weather());
    };
    if (!this.#waiting) this.#applied = this.#waiting = this.#applied.then(next, next);
    return this.#waiting;
  }

  #weather(): Weather {
    const slow = [...this.#slow].map(([member, slowness]) => ({ member, ...slowness }));
    return { cuts: linkCuts(this.#nodes, this.#cuts), slow };
  }
}
