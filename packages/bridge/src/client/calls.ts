import type * as v from 'valibot';
import { TOKEN_HEADER, WIRE_VERSION, factsSchema, refusalSchema, type BridgeFacts } from '../wire.ts';
import type { Observable } from '../rx.ts';
import type { BridgeClientOptions, BridgeHeaders, ClientClock } from './api.ts';
import { BridgeError, bridgeError, unavailable } from './bridge-error.ts';
import { FreshHeaders } from './fresh-headers.ts';
import { parsed } from './parsed.ts';

/** One request. */
export interface Call<T> {
  readonly path: string;
  readonly body: unknown;
  readonly answer: v.GenericSchema<T>;
  readonly signal?: AbortSignal;
  /** It is to arrive even if the page is closed. */
  readonly outlivesPage?: boolean;
  /** How long the answer may take, in milliseconds; after that it counts as lost. Default 10,000. */
  readonly withinMs?: number;
}

const ANSWER_WITHIN_MS = 10_000;

/** Requests to a bridge. */
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
    // The platform's wants to be called on its own object.
    this.#fetch = given ?? ((...request) => fetch(...request));
  }

  /** Failures of the caller's function for headers. */
  get errors$(): Observable<BridgeError> {
    return this.#headers.errors$;
  }

  close(): void {
    this.#headers.close();
  }

  /** Asked once; again after trouble. */
  facts(): Promise<BridgeFacts> {
    const asked = (this.#facts ??= this.#askForFacts());
    asked.catch(() => {
      if (this.#facts === asked) this.#facts = undefined;
    });
    return asked;
  }

  /** Rejects with `BridgeError`, or with the signal's reason. */
  async post<T>(call: Call<T>): Promise<T> {
    await this.#haveToken();
    const token = this.#token;
    try {
      return await this.#post(call);
    } catch (error) {
      // After a restart the bridge has another token.
      if (!(error instanceof BridgeError) || error.code !== 'ACCESS_DENIED') throw error;
      this.#facts = undefined;
      await this.#haveToken();
      if (this.#token === token) throw error;
      return this.#post(call);
    }
  }

  /** The answer, with its body still to come. Rejects as `post`. */
  async open(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#send(path, init);
    if (response.ok) return response;
    throw await refusalIn(response);
  }

  async #haveToken(): Promise<void> {
    if (this.#token === undefined || !this.#facts) this.#token = (await this.facts()).token;
  }

  #askForFacts(): Promise<BridgeFacts> {
    return this.#inTime({}, async (signal) => {
      const response = await this.open('facts', { signal });
      return parsed(await textOf(response), factsSchema);
    });
  }

  #post<T>({ path, body, answer, outlivesPage, ...limits }: Call<T>): Promise<T> {
    return this.#inTime(limits, async (signal) => {
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

  /** A connection may look open for minutes after the other end is gone. */
  async #inTime<T>(
    { signal, withinMs = ANSWER_WITHIN_MS }: Pick<Call<T>, 'signal' | 'withinMs'>,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const giveUp = new AbortController();
    const cancel = this.#clock.after(withinMs, () => {
      giveUp.abort(unavailable('the bridge does not answer'));
    });
    try {
      return await ask(signal ? AbortSignal.any([signal, giveUp.signal]) : giveUp.signal);
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
    return unavailable(`the answer was ${String(response.status)}, and not that of a bridge`);
  }
}

/** A bridge says it in seconds; a date, which a proxy may send, is not understood. */
function retryAfterMsOf({ headers }: Response): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

async function textOf(response: Response): Promise<string> {
  return response.text().catch((error: unknown) => {
    throw bridgeError(error);
  });
}
