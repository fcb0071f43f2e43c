import type { IWatchRequest } from 'etcd3';
import type { Random } from '../random.ts';
import type { Machine } from '../timeline.ts';
import type { Serving } from './stream.ts';

const BEGINS_WITHIN_MS = 5;

/**
 * The watches of one stream behind a grpc-proxy. The proxy numbers watches itself, starts them in any order,
 * and ignores requests for progress (for the present revision).
 */
export class WatchProxy implements Serving<IWatchRequest> {
  readonly #server: Serving<IWatchRequest>;
  readonly #machine: Machine;
  readonly #random: Random;
  #next = 0;

  constructor(server: Serving<IWatchRequest>, machine: Machine, random: Random) {
    this.#server = server;
    this.#machine = machine;
    this.#random = random;
  }

  hear({ create_request, cancel_request }: IWatchRequest): void {
    if (cancel_request) this.#server.hear({ cancel_request });
    if (!create_request) return;
    const numbered = { create_request: { ...create_request, watch_id: String(this.#next++) } };
    this.#machine.after(this.#random.between(0, BEGINS_WITHIN_MS), () => this.#server.hear(numbered));
  }

  applied(): void {
    this.#server.applied();
  }
}
