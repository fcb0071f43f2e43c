import type { Connection, Endpoint } from './connection.ts';
import { WatchStream } from './watch-stream.ts';

/** What a detection needs. */
export interface DetectionOptions {
  readonly connection: Pick<Connection, 'trouble$'>;
  /** A key that this client may read. */
  readonly key: Buffer;
}

/**
 * Tells members that are reached directly from those behind an `etcd grpc-proxy`, by a watch: only etcd itself takes the id that a request
 * proposes. What a watch stream of the backend has shown counts. A member that has shown nothing is asked once, and again after a request to it has
 * failed. Until it has answered it counts as one behind a proxy.
 */
export class ProxyDetection {
  readonly #key: Buffer;
  readonly #asked = new Map<Endpoint, Promise<boolean>>();
  readonly #failures = new Map<Endpoint, number>();

  constructor({ connection, key }: DetectionOptions) {
    this.#key = key;
    void connection.trouble$.forEach((endpoint) => {
      this.#asked.delete(endpoint);
      this.#failures.set(endpoint, this.#failuresOf(endpoint) + 1);
    });
  }

  /** Listens to a watch stream to a member, which begins now. What it shows after a failure of the member may be of an earlier server. */
  listen(endpoint: Endpoint): (takesProposedIds: boolean) => void {
    const failures = this.#failuresOf(endpoint);
    return (takesProposedIds) => {
      if (failures === this.#failuresOf(endpoint) && !this.#asked.has(endpoint))
        this.#asked.set(endpoint, Promise.resolve(takesProposedIds));
    };
  }

  /** Resolves with whether the member is certainly reached directly; never rejects. */
  isDirect(endpoint: Endpoint, withinMs: number): Promise<boolean> {
    const known = this.#asked.get(endpoint);
    if (known) return known;
    const asking: Promise<boolean> = this.#ask(endpoint, withinMs).then((answer) => {
      if (answer === undefined && this.#asked.get(endpoint) === asking) this.#asked.delete(endpoint);
      return answer ?? false;
    });
    this.#asked.set(endpoint, asking);
    return asking;
  }

  #failuresOf(endpoint: Endpoint): number {
    return this.#failures.get(endpoint) ?? 0;
  }

  /** Resolves with `undefined` when the member gives no answer to the question. */
  #ask(endpoint: Endpoint, withinMs: number): Promise<boolean | undefined> {
    return new Promise((resolve) => {
      const end = (answer: boolean | undefined): void => {
        stream.close();
        resolve(answer);
      };
      // A stream waits twice as long for its first answer as for later ones.
      const stream = new WatchStream(endpoint, withinMs / 2, {
        onRefused: () => end(undefined),
        onEnd: () => resolve(undefined),
      });
      stream.create({ target: { key: this.#key }, tell: () => end(stream.takesProposedIds) });
    });
  }
}
