import type * as v from 'valibot';
import { TOKEN_HEADER, WIRE_VERSION, factsSchema, refusalSchema, type BridgeFacts } from '../wire.ts';
import type { Observable } from '../rx.ts';
import type { BridgeClientOptions, BridgeHeaders, ClientClock } from './api.ts';
import { BridgeError, bridgeError, unavailable } from './bridge-error.ts';
import { FreshHeaders } from './fresh-headers.ts';
import { parsed } from './parsed.ts';

/** One request to the bridge. */
export interface Call<T> {
  readonly path: string;
  readonly body: unknown;
  readonly answer: v.GenericSchema<T>;
  readonly signal?: AbortSignal;
  /** Whether the browser finishes the request after the page is closed (`keepalive`). */
  readonly outlivesPage?: boolean;
  /** Longest wait for the response, in milliseconds. Default 10,000. */
  readonly withinMs?: number;
}

const RESPONSE_TIMEOUT_MS = 10_000;

/** Sends requests to a bridge. */
export class Calls {
  readonly #clock: ClientClock;
  readonly #base: string;
  readonly #headers: FreshHeaders;
  readonly #fetch: typeof fetch;
  #facts: Promise<BridgeFacts> | undefined;
  #token: string | undefined;

  constructor(clock: ClientClock, { url = '/queuelock', headers, fetch: given }: BridgeClientOptions) {
    this.#clock = clock;
    this.#base = `${url.replace(/\/$/, '')}/v${String(WIRE_VERSION)}/`;
    this.#headers = new FreshHeaders(clock, headers);
    // The platform's `fetch` throws when it is called as a method of another object, so it is wrapped.
    this.#fetch = given ?? ((...request) => fetch(...request));
  }

  /** Emits the error when the caller's function `headers` fails, and the request uses the last headers. */
  get errors$(): Observable<BridgeError> {
    return this.#headers.errors$;
  }

  close(): void {
    this.#headers.close();
  }

  /**
   * Reads `BridgeFacts`: the token for writes, the description of the store, and what this page may do, for
   * instance. Sends another request only after a failure.
   */
  facts(): Promise<BridgeFacts> {
    const requested = (this.#facts ??= this.#fetchFacts());
    requested.catch(() => {
      if (this.#facts === requested) this.#facts = undefined;
    });
    return requested;
  }

  /**
   * Sends a request and parses the response. Rejects with `BridgeError`, or with the reason of the aborted
   * signal.
   */
  async post<T>(call: Call<T>): Promise<T> {
    await this.#ensureToken();
    const token = this.#token;
    try {
      return await this.#post(call);
    } catch (error) {
      // A restarted bridge has another token for writes. Repeats the request once with the new token.
      if (!(error instanceof BridgeError) || error.code !== 'ACCESS_DENIED') throw error;
      this.#facts = undefined;
      await this.#ensureToken();
      if (this.#token === token) throw error;
      return this.#post(call);
    }
  }

  /**
   * Sends a request, and resolves with the response before its body has arrived. Rejects with `BridgeError`,
   * or with the reason of the aborted signal.
   */
  async open(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#send(path, init);
    if (response.ok) return response;
    throw await refusalIn(response);
  }

  async #ensureToken(): Promise<void> {
    if (this.#token === undefined || !this.#facts) this.#token = (await this.facts()).token;
  }

  #fetchFacts(): Promise<BridgeFacts> {
    return this.#withTimeout({}, async (signal) => {
      const response = await this.open('facts', { signal });
      return parsed(await textOf(response), factsSchema);
    });
  }

  #post<T>({ path, body, answer, outlivesPage, ...limits }: Call<T>): Promise<T> {
    return this.#withTimeout(limits, async (signal) => {
      const response = await this.open(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', [TOKEN_HEADER]: this.#token ?? '' },
        signal,
        ...(outlivesPage && { keepalive: true }),
      });
      return parsed(await textOf(response), answer);
    });
  }

  /**
   * Limits the wait for a response, because a connection may look open for minutes after the bridge's machine
   * died.
   */
  async #withTimeout<T>(
    { signal, withinMs = RESPONSE_TIMEOUT_MS }: Pick<Call<T>, 'signal' | 'withinMs'>,
    send: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timeout = new AbortController();
    const cancel = this.#clock.after(withinMs, () => {
      timeout.abort(unavailable(`the bridge did not respond within ${String(withinMs)} ms`));
    });
    try {
      return await send(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
    } finally {
      cancel();
    }
  }

  async #send(path: string, { headers, ...init }: RequestInit): Promise<Response> {
    try {
      const present = this.#headers.next();
      const own = present instanceof Promise ? await present : present;
      init.signal?.throwIfAborted();
      const all = { ...own, ...(headers as BridgeHeaders | undefined) };
      return await this.#fetch(this.#base + path, { ...init, headers: all });
    } catch (error) {
      init.signal?.throwIfAborted();
      throw bridgeError(error);
    }
  }
}

async function refusalIn(response: Response): Promise<BridgeError> {
  const text = await textOf(response);
  try {
    return new BridgeError({ ...parsed(text, refusalSchema).error, retryAfterMs: retryAfterMsOf(response) });
  } catch {
    return unavailable(`the response with status ${String(response.status)} is not from a bridge`);
  }
}

/** Reads `Retry-After` in seconds, as a bridge sends it. A date, which a proxy may send, is ignored. */
function retryAfterMsOf({ headers }: Response): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

async function textOf(response: Response): Promise<string> {
  return response.text().catch((error: unknown) => {
    throw bridgeError(error);
  });
}
