import type { Socket } from 'node:net';
import type { Flow } from './flow.ts';
import { reset } from './reset.ts';

/** Bytes that a pump buffers before its sender gets backpressure. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Length in milliseconds of the pieces in which a rate-limited flow is sent, so that the data is spread evenly. */
const PIECE_MS = 20;

/** A piece of a stream: bytes, its end, or its reset. */
type Parcel = Buffer | 'end' | 'reset';

export interface PumpOptions {
  readonly from: Socket;
  readonly to: Socket;
  readonly flow: Flow;
  /** Called with every chunk of the stream before the proxy forwards it. */
  readonly onData: (chunk: Buffer) => void;
  /**
   * Called when the direction was healed after data had been dropped: the connection must be reset, because
   * its stream is incomplete.
   */
  readonly onBroken: () => void;
}

/**
 * Forwards the data of one direction of one connection, including its end or reset. Keeps the order, and
 * applies the faults of the direction.
 */
export class Pump {
  readonly #options: PumpOptions;
  readonly #unsubscribe: () => void;
  readonly #queue: { readonly parcel: Parcel; readonly at: number }[] = [];
  #keptBytes = 0;
  #lastPiece = { at: 0, bytes: 0 };
  #draining = false;
  #hole = false;
  #onLoss: ((chunk: Buffer) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PumpOptions) {
    this.#options = options;
    const { from, to, flow, onData } = options;
    this.#unsubscribe = flow.onChange(() => this.#flowChanged());
    from.on('data', (chunk: Buffer) => {
      onData(chunk);
      this.#take(chunk);
    });
    from.on('end', () => this.#take('end'));
    from.on('close', (failed) => failed && this.#take('reset'));
    to.on('drain', () => {
      this.#draining = false;
      this.#go();
    });
  }

  /**
   * Drops all data of this stream until the stream is reset, even if its direction has no fault. Calls the
   * listener with the dropped data.
   */
  swallow(onLoss: (chunk: Buffer) => void): void {
    this.#onLoss = onLoss;
  }

  stop(): void {
    this.#unsubscribe();
    clearTimeout(this.#timer);
    this.#drop();
  }

  #take(parcel: Parcel): void {
    const { from, flow } = this.#options;
    if (flow.dark || this.#onLoss !== undefined || this.#hole) {
      this.#lose(parcel);
      return;
    }
    this.#queue.push({ parcel, at: performance.now() });
    this.#kept(sizeOf(parcel));
    if (this.#keptBytes > MAX_KEPT_BYTES) from.pause();
    this.#go();
  }

  #lose(parcel: Parcel): void {
    this.#options.flow.lostBytes += sizeOf(parcel);
    this.#hole = true;
    if (parcel instanceof Buffer) this.#onLoss?.(parcel);
  }

  #flowChanged(): void {
    const { flow, onBroken } = this.#options;
    if (flow.dark) for (const { parcel } of this.#drop()) this.#lose(parcel);
    if (this.#hole && !flow.dark && this.#onLoss === undefined) onBroken();
    else this.#go();
  }

  #kept(bytes: number): void {
    this.#keptBytes += bytes;
    this.#options.flow.keptBytes += bytes;
  }

  #drop(): { readonly parcel: Parcel }[] {
    this.#kept(-this.#keptBytes);
    return this.#queue.splice(0);
  }

  #go(): void {
    clearTimeout(this.#timer);
    const { from, flow } = this.#options;
    while (this.#queue.length > 0 && !flow.held && !this.#draining) {
      const waitMs = this.#dueAt(this.#queue[0]!.at) - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#go(), Math.ceil(waitMs));
        break;
      }
      this.#forward(this.#queue.shift()!);
    }
    if (this.#keptBytes <= MAX_KEPT_BYTES && from.isPaused()) from.resume();
  }

  // Returns the time at which data must be forwarded. The time is computed from the present settings of the
  // flow, so that a change of the settings applies to data in flight too.
  #dueAt(arrivedAt: number): number {
    const { delayMs, bytesPerSecond } = this.#options.flow;
    return Math.max(
      arrivedAt + delayMs,
      this.#lastPiece.at + (this.#lastPiece.bytes / bytesPerSecond) * 1000,
    );
  }

  #forward({ parcel, at }: { readonly parcel: Parcel; readonly at: number }): void {
    const { to, flow } = this.#options;
    if (parcel === 'end') to.end();
    else if (parcel === 'reset') reset(to);
    else {
      const size = Math.max(1, Math.floor((flow.bytesPerSecond * PIECE_MS) / 1000));
      if (parcel.length > size) this.#queue.unshift({ parcel: parcel.subarray(size), at });
      this.#send(parcel.subarray(0, size));
    }
  }

  #send(piece: Buffer): void {
    const { to, flow } = this.#options;
    this.#kept(-piece.length);
    this.#lastPiece = { at: performance.now(), bytes: piece.length };
    if (to.destroyed) return;
    flow.bytes += piece.length;
    this.#draining = !to.write(piece);
  }
}

function sizeOf(parcel: Parcel): number {
  return typeof parcel === 'string' ? 0 : parcel.length;
}
