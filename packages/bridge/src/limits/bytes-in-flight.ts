import type { ClientId } from './quota.ts';

/** How many bytes may be on their way to clients that have not read them yet. */
export interface FlightLimits {
  readonly perClient: number;
  /** Each snapshot counts once, however many clients it is sent to. */
  readonly perBridge: number;
}

// Of small snapshots each stream may have one, so that pages with little to show are served when others read slowly.
const SMALL_BYTES = 16_384;

/**
 * Counts the bytes of snapshots that were sent and are not read yet. A client that reads slowly keeps each snapshot that it was sent alive, although
 * newer ones have replaced it, and many of them would fill the memory.
 */
export class BytesInFlight {
  readonly #limits: FlightLimits;
  readonly #byClient = new Map<ClientId, number>();
  /** How many streams each snapshot is on its way in. */
  readonly #snapshots = new Map<Uint8Array, number>();
  #bytes = 0;
  #waiting = new Set<() => void>();

  constructor(limits: FlightLimits) {
    this.#limits = limits;
  }

  /**
   * Returns the function to call when the snapshot was read, or `undefined` when there is no room: then `onRoom` is called once when there
   * may be some. A snapshot that is larger than a limit is sent alone.
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

  /** Of a stream that has ended. */
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
