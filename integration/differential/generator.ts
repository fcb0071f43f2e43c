import { chanceOf } from '@queuelock/harness/chance';
import { isDetermined, type ClaimView, type Situation } from './situation.ts';
import { KIND_OF, LARGEST_LIMIT, type Features, type Reply, type Step, type Terms } from './step.ts';

const CLIENTS = ['A', 'B', 'C', 'D'];
const SHORTEST = 8;
const LONGEST = 24;
/** Number of live claims from which on the generator makes a new claim less often. */
const CROWD = 7;
const REPLIES: readonly Reply[] = ['decline', 'yieldToQueue', 'yieldToRequester'];

/** Random choices of one script. The same seed makes the same choices in the same situations. */
export class Generator {
  readonly features: Features;
  readonly queues: readonly string[];
  readonly #next: () => number;
  readonly #clients: readonly string[];
  #left: number;

  constructor(seed: number) {
    this.#next = chanceOf(seed);
    this.queues = this.#some(Object.keys(KIND_OF), 2);
    this.#clients = CLIENTS.slice(0, 2 + this.#below(3));
    this.#left = SHORTEST + this.#below(LONGEST - SHORTEST + 1);
    const features = {
      positions: this.#is(0.25),
      requests: this.#is(0.3),
      evictions: this.#is(0.4),
      records: this.#is(0.25),
    };
    this.features = features;
  }

  /** Returns the next random step of the script, or `undefined` at its end. */
  step(now: Situation): Step | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    for (;;) {
      const step = this.#drawn(now);
      if (step && isDetermined(step, now)) return step;
    }
  }

  #drawn(now: Situation): Step | undefined {
    const live = now.claims.filter(({ status }) => status !== 'over');
    const holders = live.filter(({ status }) => status === 'holding');
    const waiters = live.filter(({ status }) => status === 'waiting');
    const { evictions, requests } = this.features;
    const choices: readonly (readonly [weight: number, draw: () => Step | undefined])[] = [
      [live.length < CROWD ? 12 : 2, () => this.#claim(now)],
      [6, () => this.#about(holders, 'release')],
      [2, () => this.#about(waiters, 'abort')],
      [1.5, () => this.#about(holders, 'downgrade')],
      [0.5, () => this.#about(holders, 'update')],
      [requests ? 4 : 0, () => this.#reply(holders)],
      [evictions ? 1 : 0, () => this.#removal(live, 'evict')],
      [1, () => this.#removal(live, 'remove')],
      [0.8, () => ({ act: 'end session', client: this.#pick(this.#clients) })],
      [0.8, () => ({ act: 'close', client: this.#pick(this.#clients) })],
      [0.8, () => ({ act: 'move', client: this.#pick(this.#clients) })],
      [this.queues.includes('v') ? 2 : 0, () => this.#limit()],
      [0.7, () => ({ act: 'list' })],
    ];
    let at = this.#next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    return choices.find(([weight]) => (at -= weight) < 0)?.[1]();
  }

  #claim({ claims }: Situation): Step {
    const claim = `c${claims.length + 1}`;
    const client = this.#pick(this.#clients);
    const locks = this.queues.filter((queue) => KIND_OF[queue] === 'lock');
    if (locks.length > 1 && this.#is(0.15)) {
      const terms = {
        ...(this.#is(0.3) && { isShared: true }),
        ...(this.#is(0.2) && { isTry: true }),
      } as Terms;
      return { act: 'claim', claim, client, queues: locks, terms };
    }
    const queue = this.#pick(this.queues);
    return {
      act: 'claim',
      claim,
      client,
      queues: [queue],
      terms: { ...this.#share(queue), ...this.#manner() },
    };
  }

  /**
   * Returns the random options of a claim that limit how many claims may hold: limit, permits or shared mode.
   * A few claims get another limit than the queue's other claims have, which the store has to reject.
   */
  #share(queue: string): Terms {
    const kind = KIND_OF[queue];
    if (kind === 'varying') return {};
    if (kind === 'semaphore') return { limit: this.#is(0.05) ? 2 : 3, permits: this.#is(0.3) ? 2 : 1 };
    if (this.#is(0.03)) return { limit: 2, permits: 1 };
    return this.#is(0.35) ? { isShared: true } : {};
  }

  #manner(): Terms {
    const { evictions, requests } = this.features;
    if (this.#is(0.12)) return { isTry: true };
    if (evictions && this.#is(0.15)) return { isTheft: true };
    if (requests && this.#is(0.5)) return { isRequest: true };
    return this.#is(0.08) ? { maxWaiters: 1 + this.#below(2) } : {};
  }

  #about(claims: readonly ClaimView[], act: 'release' | 'abort' | 'downgrade' | 'update'): Step | undefined {
    return claims.length === 0 ? undefined : { act, claim: this.#pick(claims).name };
  }

  #reply(holders: readonly ClaimView[]): Step | undefined {
    const requested = holders.filter(({ requests }) => requests.length > 0);
    if (requested.length === 0) return undefined;
    const { name: claim, requests } = this.#pick(requested);
    return { act: 'reply', claim, to: this.#pick(requests), reply: this.#pick(REPLIES) };
  }

  #removal(live: readonly ClaimView[], act: 'evict' | 'remove'): Step | undefined {
    if (live.length === 0) return undefined;
    const { name: claim, queues } = this.#pick(live);
    return { act, claim, queue: this.#pick(queues) };
  }

  #limit(): Step {
    return { act: 'limit', queue: 'v', limit: 1 + this.#below(LARGEST_LIMIT) };
  }

  #is(probability: number): boolean {
    return this.#next() < probability;
  }

  #below(most: number): number {
    return Math.floor(this.#next() * most);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)]!;
  }

  /** Chooses some of the items at random, at least `least` of them. Returns them in their original order. */
  #some<T>(items: readonly T[], least: number): readonly T[] {
    const chosen = items.filter(() => this.#is(0.5));
    return chosen.length >= least ? chosen : this.#some(items, least);
  }
}
