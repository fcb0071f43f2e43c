import type { Connection, Endpoint } from './connection.ts';
import { WatchStream } from './watch-stream.ts';

/** The parts of the backend by which proxies are detected: the connection's reports of failures, and a key to watch. */
export interface DetectionOptions {
  readonly connection: Pick<Connection, 'failures$'>;
  /** A key that this client may read, for a watch that tests the member. */
  readonly key: Buffer;
}

/**
 * Detects whether a member is reached directly or through an `etcd grpc-proxy`. A watch request proposes an id, which only etcd itself accepts. The
 * watch streams of the backend report whether the member accepted it. If there is no report about a member, the detection sends a watch request of
 * its own. After a failed request to a member, its report is discarded. A member that has not responded yet counts as being behind a proxy.
 */
export class ProxyDetection {
  readonly #key: Buffer;
  readonly #results = new Map<Endpoint, Promise<boolean>>();
  readonly #failures = new Map<Endpoint, number>();

  constructor({ connection, key }: DetectionOptions) {
    this.#key = key;
    void connection.failures$.forEach((endpoint) => {
      this.#results.delete(endpoint);
      this.#failures.set(endpoint, this.#failuresOf(endpoint) + 1);
    });
  }

  /**
   * Returns the function by which a new watch stream reports whether the member accepts proposed ids. After a failure of the member the report is
   * ignored, since it may be about a server that had the same address before.
   */
  listen(endpoint: Endpoint): (takesProposedIds: boolean) => void {
    const failures = this.#failuresOf(endpoint);
    return (takesProposedIds) => {
      if (failures === this.#failuresOf(endpoint) && !this.#results.has(endpoint))
        this.#results.set(endpoint, Promise.resolve(takesProposedIds));
    };
  }

  /** Resolves with true if the member is certainly reached directly. Never rejects. */
  isDirect(endpoint: Endpoint, withinMs: number): Promise<boolean> {
    const known = this.#results.get(endpoint);
    if (known) return known;
    const detection: Promise<boolean> = this.#detect(endpoint, withinMs).then((response) => {
      if (response === undefined && this.#results.get(endpoint) === detection) this.#results.delete(endpoint);
      return response ?? false;
    });
    this.#results.set(endpoint, detection);
    return detection;
  }

  #failuresOf(endpoint: Endpoint): number {
    return this.#failures.get(endpoint) ?? 0;
  }

  /**
   * Creates a watch on the member. Resolves with whether the member accepts the proposed id, or with `undefined` if the member does not confirm the
   * watch.
   */
  #detect(endpoint: Endpoint, withinMs: number): Promise<boolean | undefined> {
    return new Promise((resolve) => {
      const end = (response: boolean | undefined): void => {
        stream.close();
        resolve(response);
      };
      // A stream waits twice its timeout for the first response. With half of `withinMs` as its timeout, it waits for `withinMs`.
      const stream = new WatchStream(endpoint, withinMs / 2, {
        onRefused: () => end(undefined),
        onEnd: () => resolve(undefined),
      });
      stream.create({ target: { key: this.#key }, notify: () => end(stream.takesProposedIds) });
    });
  }
}
