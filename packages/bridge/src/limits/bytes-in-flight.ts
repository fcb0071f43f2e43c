import type { ClientId } from './quota.ts';

/** Limits of the bytes that were sent to clients and are not read yet. */
export interface FlightLimits {
  readonly perClient: number;
  /** Limit for all clients together. Each snapshot counts once, however many clients receive it. */
  readonly perBridge: number;
}

// Snapshots of at most 16 KiB are not counted, so that small pages are served while other clients read
// slowly. Each stream has at most one snapshot in flight.
const SMALL_BYTES = 16_384;

/**
 * Counts the bytes of snapshots that were sent and are not read yet. A snapshot that a slow client has not
 * read stays in memory, although newer ones exist. Many slow clients would fill the memory.
 */
export class BytesInFlight {
  readonly #limits: FlightLimits;
  readonly #byClient = new Map<ClientId, number>();
  /** The number of streams on which each snapshot is in flight. */
  readonly #snapshots = new Map<Uint8Array, number>();
  #bytes = 0;
  #waiting = new Set<() => void>();

  constructor(limits: FlightLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a snapshot as in flight. Returns the function to call when the client has read it, or `undefined`
   * when the limits leave no room. In that case `onRoom` is called once, when other snapshots have been read.
   * A snapshot that is larger than a limit is sent while no other one is in flight.
   */
  take(snapshot: Uint8Array, client: ClientId, onRoom: () => void): (() => void) | undefined {
    const bytes = snapshot.byteLength;
    if (bytes <= SMALL_BYTES) return () => undefined;
    if (!this.#hasRoom(snapshot, client)) {
      this.#waiting.add(onRoom);
      return undefined;
    }
    const streams = this.#snapshots.get(snapshot) ?? 0;
    if (streams === 0) this.#bytes += bytes;
    this.#snapshots.set(snapshot, streams + 1);
    this.#byClient.set(client, this.#bytesOf(client) + bytes);
    return () => this.#release(snapshot, client);
  }

  /** Removes the callback `onRoom` of a stream that has ended. It will not be called any more. */
  forget(onRoom: () => void): void {
    this.#waiting.delete(onRoom);
  }

  #hasRoom(snapshot: Uint8Array, client: ClientId): boolean {
    const { perClient, perBridge } = this.#limits;
    const bytes = snapshot.byteLength;
    const own = this.#bytesOf(client);
    if (client !== undefined && own > 0 && own + bytes > perClient) return false;
    return this.#bytes === 0 || this.#snapshots.has(snapshot) || this.#bytes + bytes <= perBridge;
  }

  #bytesOf(client: ClientId): number {
    return this.#byClient.get(client) ?? 0;
  }

  #release(snapshot: Uint8Array, client: ClientId): void {
    const bytes = snapshot.byteLength;
    const own = this.#bytesOf(client) - bytes;
    if (own > 0) this.#byClient.set(client, own);
    else this.#byClient.delete(client);
    const streams = (this.#snapshots.get(snapshot) ?? 1) - 1;
    if (streams > 0) this.#snapshots.set(snapshot, streams);
    else {
      this.#snapshots.delete(snapshot);
      this.#bytes -= bytes;
    }
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const onRoom of waiting) onRoom();
  }
}
