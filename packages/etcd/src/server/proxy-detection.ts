import type { Connection, Endpoint } from './connection.ts';
import { WatchStream } from './watch-stream.ts';

/** The dependencies of a detection. */
export interface DetectionOptions {
  readonly connection: Pick<Connection, 'failures$'>;
  /** A key that this client may read. */
  readonly key: Buffer;
}

/**
 * Detects whether a member is reached directly or through an `etcd grpc-proxy`, by a watch: only etcd itself accepts the id that a request
 * proposes. The watch streams of the backend report what they see. A member without a report gets one watch request, and another one after a
 * request to it failed. Until its response it counts as one behind a proxy.
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

  /** Returns the listener of a watch stream that begins now. Its report does not count after a failure, since it may be about an earlier server. */
  listen(endpoint: Endpoint): (takesProposedIds: boolean) => void {
    const failures = this.#failuresOf(endpoint);
    return (takesProposedIds) => {
      if (failures === this.#failuresOf(endpoint) && !this.#results.has(endpoint))
        this.#results.set(endpoint, Promise.resolve(takesProposedIds));
    };
  }

  /** Resolves with whether the member is certainly reached directly. Never rejects. */
  isDirect(endpoint: Endpoint, withinMs: number): Promise<boolean> {
    const known = this.#results.get(endpoint);
    if (known) return known;
    const detection: Promise<boolean> = this.#detect(endpoint, withinMs).then((answer) => {
      if (answer === undefined && this.#results.get(endpoint) === detection) this.#results.delete(endpoint);
      return answer ?? false;
    });
    this.#results.set(endpoint, detection);
    return detection;
  }

  #failuresOf(endpoint: Endpoint): number {
    return this.#failures.get(endpoint) ?? 0;
  }

  /** Resolves with `undefined` if the member does not confirm the watch. */
  #detect(endpoint: Endpoint, withinMs: number): Promise<boolean | undefined> {
    return new Promise((resolve) => {
      const end = (answer: boolean | undefined): void => {
        stream.close();
        resolve(answer);
      };
      // A stream waits twice as long for its first response as for later ones.
      const stream = new WatchStream(endpoint, withinMs / 2, {
        onRefused: () => end(undefined),
        onEnd: () => resolve(undefined),
      });
      stream.create({ target: { key: this.#key }, notify: () => end(stream.takesProposedIds) });
    });
  }
}
