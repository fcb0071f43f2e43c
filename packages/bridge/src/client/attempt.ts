import type { ClientClock } from './api.ts';
import { unavailable } from './bridge-error.ts';
import { EventParser, type StreamEvent } from './event-parser.ts';

/** What an attempt needs. */
export interface AttemptTools {
  readonly clock: ClientClock;
  readonly open: (signal: AbortSignal) => Promise<Response>;
  /** Something came, and be it a part of a comment. */
  readonly onSign: () => void;
  /** What it throws ends the attempt. */
  readonly onEvent: (event: StreamEvent) => void;
  /** Once, unless it was stopped. */
  readonly onEnd: (error: unknown) => void;
}

const ANSWER_WITHIN_MS = 10_000;
const MISSED_HEARTBEATS = 2.5;

/** One stream, from the request to its end. It ends by itself when nothing comes for too long: a dead connection says nothing. */
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
