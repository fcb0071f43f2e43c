import { Overloaded } from '../refusal.ts';

/** Id under which the limits count a client; `undefined` when nothing identifies the client. */
export type ClientId = string | undefined;

/** The name of the option for a limit, and its values for the bridge and for each client. */
export interface QuotaSpec {
  /** Name of the option that sets the limits, in `limits` and in `limits.perClient`. */
  readonly option: string;
  readonly perBridge: number;
  readonly perClient: number;
}

/** Value of `Retry-After` in seconds. A client that retries earlier is refused again in most cases. */
const RETRY_AFTER_S = 5;

/**
 * Limits how many streams, joins or other resources of one kind are in use, by client and in total. Uses with
 * the same key count once. Clients without an id have no limit by client: if they shared one, a single client
 * could exhaust it for all others.
 */
export class Quota {
  readonly #spec: QuotaSpec;
  readonly #inUse = new Counts();
  /** For each client, the resources that it uses now. A client that uses none is removed from the map. */
  readonly #byClient = new Map<string, Counts>();

  constructor(spec: QuotaSpec) {
    this.#spec = spec;
  }

  /** Returns whether all clients together have reached the bridge's limit. */
  get isFull(): boolean {
    return this.#inUse.size >= this.#spec.perBridge;
  }

  /** Returns whether the client has reached its own limit. */
  isFullFor(client: ClientId): boolean {
    return client !== undefined && (this.#byClient.get(client)?.size ?? 0) >= this.#spec.perClient;
  }

  /**
   * Counts the use of a stream, join or other resource by a client, until the returned function is called.
   * @throws {Overloaded} 429 when the client is at its limit, 503 when the bridge is at its limit
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

/**
 * Counts how many uses each resource has, by the key of the resource. `size` is the number of resources in
 * use.
 */
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
    const remaining = (this.#counts.get(key) ?? 1) - 1;
    if (remaining > 0) this.#counts.set(key, remaining);
    else this.#counts.delete(key);
  }
}

/** Returns the error for a client at its own limit. */
function clientIsOver(option: string, max: number): Overloaded {
  const message = `this client has reached its limit of ${String(max)} (limits.perClient.${option}); retry later, or use less`;
  return new Overloaded(429, message, RETRY_AFTER_S);
}

/** Returns the error for the limit that all clients of the bridge share. */
function bridgeIsOver(option: string, max: number): Overloaded {
  const message = `the bridge has reached its limit of ${String(max)} (limits.${option}); retry later`;
  return new Overloaded(503, message, RETRY_AFTER_S);
}
