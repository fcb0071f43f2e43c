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
 * proposes. A member is asked once, and again after a request to it has failed. Until it has answered it counts as one behind a proxy.
 */
export class ProxyDetection {
  readonly #key: Buffer;
  readonly #asked = new Map<Endpoint, Promise<boolean>>();

  constructor({ connection, key }: DetectionOptions) {
    this.#key = key;
    void connection.trouble$.forEach((endpoint) => this.#asked.delete(endpoint));
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
