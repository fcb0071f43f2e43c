import { Overloaded } from '../refusal.ts';

/** The client that a request comes from, by the name that limits count it under; `undefined`: nothing identifies it. */
export type ClientId = string | undefined;

/** What is limited. */
export interface QuotaSpec {
  /** The option's name in `limits` and in `limits.perClient`. */
  readonly option: string;
  readonly perBridge: number;
  readonly perClient: number;
}

/** A client that retries earlier is refused again in most cases, in seconds. */
const RETRY_AFTER_S = 5;

/**
 * Counts what the bridge has in use, by client and in all. What has the same key counts once. Clients that nothing identifies are not limited
 * separately, since a limit for all of them together would let one of them shut out the others earlier.
 */
export class Quota {
  readonly #spec: QuotaSpec;
  readonly #inUse = new Counts();
  /** A client is forgotten with the last thing that it uses. */
  readonly #byClient = new Map<string, Counts>();

  constructor(spec: QuotaSpec) {
    this.#spec = spec;
  }

  /** Whether the bridge is at its limit. */
  get isFull(): boolean {
    return this.#inUse.size >= this.#spec.perBridge;
  }

  /** Whether the client is at its limit. */
  isFullFor(client: ClientId): boolean {
    return client !== undefined && (this.#byClient.get(client)?.size ?? 0) >= this.#spec.perClient;
  }

  /**
   * Counts one use until the returned function is called.
   * @throws {Overloaded} 429 when the client uses its own limit already, 503 when the bridge does.
   */
  take(client: ClientId, key: unknown = Symbol(this.#spec.option)): () => void {
    const { option, perBridge, perClient } = this.#spec;
    const own = client === undefined ? undefined : (this.#byClient.get(client) ?? new Counts());
    if (own && !own.has(key) && own.size >= perClient) throw clientIsOver(option, perClient);
    if (!this.#inUse.has(key) && this.#inUse.size >= perBridge) throw bridgeIsOver(option, perBridge);
    this.#inUse.add(key);
    own?.add(key);
    if (client !== undefined && own) this.#byClient.set(client, own);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#inUse.remove(key);
      own?.remove(key);
      if (client !== undefined && own?.size === 0) this.#byClient.delete(client);
    };
  }
}

/** How often each key is in use. */
class Counts {
  readonly #counts = new Map<unknown, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(key: unknown): boolean {
    return this.#counts.has(key);
  }

  add(key: unknown): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  remove(key: unknown): void {
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}

/** The client's own limit. */
function clientIsOver(option: string, most: number): Overloaded {
  const message = `this client has reached its limit of ${String(most)} (limits.perClient.${option}); retry later, or with less`;
  return new Overloaded(429, message, RETRY_AFTER_S);
}

/** The limit of the bridge, which all its clients share. */
function bridgeIsOver(option: string, most: number): Overloaded {
  const message = `the bridge has reached its limit of ${String(most)} (limits.${option}); retry later`;
  return new Overloaded(503, message, RETRY_AFTER_S);
}
