import type { Clock } from '@queuelock/core';
import { Overloaded } from '../refusal.ts';
import type { ClientId } from './quota.ts';

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Number of seconds whose requests a client may make at once, as a burst. */
const BURST_S = 5;
// Number of clients whose rate is remembered. The least recently active ones are forgotten first, so that ids
// that clients choose do not fill the memory.
const KEPT_CLIENTS = 10_000;

/**
 * A token bucket for each client (a rate limit that permits short bursts). It bounds the cost of requests,
 * however small each of them is.
 */
export class RequestRate {
  readonly #perSecond: number;
  readonly #clock: Clock;
  /** Token bucket of each client, the least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /**
   * Counts a request of the client against its rate.
   * @param cost the number of requests that the request counts as. Default 1
   * @throws {Overloaded} 429 when the client exceeds its rate.
   */
  take(client: ClientId, cost = 1): void {
    if (client === undefined) return;
    const now = this.#clock.now();
    const burst = this.#perSecond * BURST_S;
    const { tokens, at } = this.#buckets.get(client) ?? { tokens: burst, at: now };
    const filled = Math.min(burst, tokens + ((now - at) / 1_000) * this.#perSecond);
    this.#buckets.delete(client);
    this.#buckets.set(client, { tokens: filled < 1 ? filled : filled - cost, at: now });
    const [oldest = client] = this.#buckets.keys();
    if (this.#buckets.size > KEPT_CLIENTS) this.#buckets.delete(oldest);
    if (filled < 1) throw tooFast(this.#perSecond);
  }
}

function tooFast(perSecond: number): Overloaded {
  const message = `this client exceeds ${String(perSecond)} requests of this kind per second (limits.perClient.requestsPerSecond); retry later`;
  return new Overloaded(429, message, 1);
}
