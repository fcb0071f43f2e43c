import { createLockClient, type LockClient } from '@queuelock/core';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';
import { expect } from 'chai';
import { filter, firstValueFrom, timeout, type Observable } from 'rxjs';
import { createBridgeClient, type BridgeClient, type JoinState } from '../src/client.ts';
import { createBridge, serve, type Bridge, type BridgeOptions, type Served } from '../src/index.ts';
import { TOKEN_HEADER, type BridgeFacts } from '../src/wire.ts';

const MAX_WAIT_MS = 30_000;

/** A bridge that listens on HTTP, over a lock server in memory. */
export interface Stage extends AsyncDisposable {
  readonly server: MemoryServer;
  /** The lock client of the bridge. */
  readonly client: LockClient;
  readonly bridge: Bridge;
  readonly served: Served;
  /** URL of the bridge, for pages. */
  readonly url: string;
  /**
   * Returns a new lock client that does not belong to the bridge, as another program has it. It is closed
   * together with the bridge.
   */
  other(owner: string): LockClient;
  /** Returns a new page client of the bridge. It is closed together with the bridge. */
  page(): BridgeClient;
}

/** Starts a bridge on real HTTP, over a new lock server in memory. */
export async function stage(options: Partial<BridgeOptions> = {}): Promise<Stage> {
  const server = createMemoryServer();
  const client = createLockClient(memory({ server }), { owner: 'bridge' });
  const others: LockClient[] = [];
  const pages: BridgeClient[] = [];
  const bridge = createBridge({ client, authorize: () => true, ...options });
  const served = await serve({ handle: bridge.handle });
  const url = served.url + bridge.basePath;
  return {
    server,
    client,
    bridge,
    served,
    url,
    other(owner) {
      const other = createLockClient(memory({ server }), { owner });
      others.push(other);
      return other;
    },
    page() {
      const page = createBridgeClient({ url });
      pages.push(page);
      return page;
    },
    async [Symbol.asyncDispose]() {
      for (const page of pages) page.close();
      await bridge.close();
      await served.close();
      for (const other of [client, ...others]) await other.close();
    },
  };
}

/** Resolves with the first value of the stream for which `isIt` returns true. Rejects after 30 s without one. */
export function seen<T>(values$: Observable<T>, isIt: (value: T) => boolean): Promise<T> {
  return firstValueFrom(values$.pipe(filter(isIt), timeout(MAX_WAIT_MS)), {
    defaultValue: undefined as never,
  });
}

type State<S extends JoinState['status']> = JoinState & { readonly status: S };

/** A page's join whose states a test records. */
export class Tab {
  readonly states: JoinState[] = [];
  readonly #subscription: { unsubscribe(): void };
  readonly #waiting = new Set<() => void>();

  constructor(join$: Observable<JoinState>) {
    this.#subscription = join$.subscribe((state) => {
      this.states.push(state);
      for (const read of this.#waiting) read();
    });
  }

  /**
   * Resolves with the newest state of the join once it has this status and satisfies the condition `isIt`.
   */
  async until<S extends JoinState['status']>(
    status: S,
    isIt: (state: State<S>) => boolean = () => true,
  ): Promise<State<S>> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`not ${status}: ${JSON.stringify(this.states)}`)),
        MAX_WAIT_MS,
      );
      const read = (): void => {
        const state = this.states.at(-1);
        if (state?.status !== status || !isIt(state as State<S>)) return;
        clearTimeout(timer);
        this.#waiting.delete(read);
        resolve(state as State<S>);
      };
      this.#waiting.add(read);
      read();
    });
  }

  close(): void {
    this.#subscription.unsubscribe();
  }
}

/** Calls `isSo` every 5 ms until it returns true. Rejects after 30 s with a message that names `what`. */
export async function untilSo(what: string, isSo: () => boolean): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (!isSo()) {
    expect(performance.now(), `not in time: ${what}`).to.be.below(end);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns functions that send HTTP requests to the bridge, as a program outside of a browser does. */
export async function programAt(url: string) {
  const facts = (await (await fetch(`${url}/v2/facts`)).json()) as BridgeFacts;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}/v2/${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', [TOKEN_HEADER]: facts.token, ...headers },
    });
  return { facts, post };
}
