import type { ClientClock } from './api.ts';
import { unavailable } from './bridge-error.ts';
import { EventParser, type StreamEvent } from './event-parser.ts';

/** Dependencies of one connection attempt. */
export interface AttemptTools {
  readonly clock: ClientClock;
  readonly open: (signal: AbortSignal) => Promise<Response>;
  /** Called for each piece of data, a part of a comment included. */
  readonly onSign: () => void;
  /** Called for each event. An error that it throws ends the attempt. */
  readonly onEvent: (event: StreamEvent) => void;
  /** Called once when the stream ends, unless `stop` was called. */
  readonly onEnd: (error: unknown) => void;
}

const ANSWER_WITHIN_MS = 10_000;
const MISSED_HEARTBEATS = 2.5;

/**
 * One stream, from the request to its end. It ends when no data arrives for too long, because a dead connection reports no error.
 */
export class Attempt {
  readonly #tools: AttemptTools;
  readonly #abort = new AbortController();
  #patienceMs = ANSWER_WITHIN_MS;
  #heardAt: number;
  #cancelPatience: (() => void) | undefined;

  constructor(tools: AttemptTools) {
    this.#tools = tools;
    this.#heardAt = tools.clock.now();
  }

  start(): void {
    this.#waitPatiently(this.#patienceMs);
    void this.#run();
  }

  expectEvery(heartbeatMs: number): void {
    this.#patienceMs = MISSED_HEARTBEATS * heartbeatMs;
    this.#hear();
    this.#waitPatiently(this.#patienceMs);
  }

  stop(): void {
    this.#cancelPatience?.();
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
      this.#hear();
      for (const event of parser.push(decoder.decode(value, { stream: true }))) this.#tools.onEvent(event);
      this.#tools.onSign();
    }
  }

  #hear(): void {
    this.#heardAt = this.#tools.clock.now();
  }

  #waitPatiently(ms: number): void {
    const { clock } = this.#tools;
    this.#cancelPatience?.();
    this.#cancelPatience = clock.after(ms, () => {
      const leftMs = this.#heardAt + this.#patienceMs - clock.now();
      if (leftMs > 0) this.#waitPatiently(leftMs);
      else this.#giveUp();
    });
  }

  #giveUp(): void {
    this.stop();
    this.#tools.onEnd(unavailable('nothing was heard of the bridge for too long'));
  }
}
