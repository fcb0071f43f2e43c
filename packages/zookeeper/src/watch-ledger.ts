import type { NodeChange } from './driver.ts';

// After a reconnect the C client names all its watches in one packet, and a server drops connections that send more than
// 1 MiB (`jute.maxbuffer`): for ever, since the next connection does the same.
const MAX_BYTES = 900_000;
// Length prefixes and what the packet may count twice.
const BYTES_PER_WATCH = 8;

/** The watches that one connection has set and that have not fired. A watch cannot be taken back, it only fires. */
export class WatchLedger {
  readonly #data = new Set<string>();
  readonly #children = new Set<string>();
  #bytes = 0;

  /** What taking them over to a new connection would send. */
  get bytes(): number {
    return this.#bytes;
  }

  get hasRoom(): boolean {
    return this.#bytes < MAX_BYTES;
  }

  /** A watch on the node itself or on its list of children was set; again is as once. */
  set(path: string, on: 'data' | 'children'): void {
    const paths = on === 'data' ? this.#data : this.#children;
    if (paths.has(path)) return;
    paths.add(path);
    this.#bytes += bytesOf(path);
  }

  /** A watch told of a change, which used it up. */
  fired(path: string, change: NodeChange): void {
    if (change !== 'child') this.#drop(this.#data, path);
    if (change === 'child' || change === 'deleted') this.#drop(this.#children, path);
  }

  #drop(paths: Set<string>, path: string): void {
    if (paths.delete(path)) this.#bytes -= bytesOf(path);
  }
}

function bytesOf(path: string): number {
  return Buffer.byteLength(path) + BYTES_PER_WATCH;
}
