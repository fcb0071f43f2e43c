import type { ClientClock } from './api.ts';
import { unavailable } from './bridge-error.ts';
import { EventParser, type StreamEvent } from './event-parser.ts';

/** Callbacks and clock of one attempt to connect to the bridge. */
export interface AttemptTools {
  readonly clock: ClientClock;
  readonly open: (signal: AbortSignal) => Promise<Response>;
  /** Called whenever bytes arrive from the bridge, even if they are only a part of a heartbeat. */
  readonly onData: () => void;
  /** Called for each event that the bridge sends. An error that it throws ends the connection attempt. */
  readonly onEvent: (event: StreamEvent) => void;
  /** Called once when the connection to the bridge ends, unless the client itself has ended it. */
  readonly onEnd: (error: unknown) => void;
}

const RESPONSE_TIMEOUT_MS = 10_000;
const MISSED_HEARTBEATS = 2.5;

/**
 * One attempt to receive a stream from the bridge, from the request to the end of the response. It also ends
 * when no data arrives for 2.5 heartbeat intervals, because a dead connection reports no error.
 */
export class Attempt {
  readonly #tools: AttemptTools;
  readonly #abort = new AbortController();
  #timeoutMs = RESPONSE_TIMEOUT_MS;
  #dataAt: number;
  #cancelTimeout: (() => void) | undefined;

  constructor(tools: AttemptTools) {
    this.#tools = tools;
    this.#dataAt = tools.clock.now();
  }

  start(): void {
    this.#waitForData(this.#timeoutMs);
    void this.#run();
  }

  expectEvery(heartbeatMs: number): void {
    this.#timeoutMs = MISSED_HEARTBEATS * heartbeatMs;
    this.#noteData();
    this.#waitForData(this.#timeoutMs);
  }

  stop(): void {
    this.#cancelTimeout?.();
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    try {
      await this.#read(await this.#tools.open(signal));
      throw unavailable('the stream has ended');
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      this.#tools.onEnd(error);
    }
  }

  async #read({ body }: Response): Promise<void> {
    const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
    const decoder = new TextDecoder();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || this.#abort.signal.aborted) return;
      this.#noteData();
      for (const event of parser.push(decoder.decode(value, { stream: true }))) this.#tools.onEvent(event);
      this.#tools.onData();
    }
  }

  #noteData(): void {
    this.#dataAt = this.#tools.clock.now();
  }

  #waitForData(ms: number): void {
    const { clock } = this.#tools;
    this.#cancelTimeout?.();
    this.#cancelTimeout = clock.after(ms, () => {
      const remainingMs = this.#dataAt + this.#timeoutMs - clock.now();
      if (remainingMs > 0) this.#waitForData(remainingMs);
      else this.#endByTimeout();
    });
  }

  #endByTimeout(): void {
    this.stop();
    this.#tools.onEnd(unavailable(`the bridge sent no data for ${String(this.#timeoutMs)} ms`));
  }
}
