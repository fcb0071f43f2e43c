import { closeSync, openSync, writeSync } from 'node:fs';
import type { ChaosEvent } from './event.ts';

/**
 * An event as the worker passes it to its recorder, which adds the name of the process. It also adds the time
 * if the worker has not set it.
 */
export type EventInput<E extends ChaosEvent = ChaosEvent> = E extends ChaosEvent
  ? Omit<E, 't' | 'who'> & { readonly t?: string }
  : never;

let now = (): bigint => process.hrtime.bigint();

/** Returns the current time as a stamp of the monotonic clock that all processes of the machine share. */
export function stampNow(): string {
  return now().toString();
}

/**
 * Replaces the clock that stamps the events, to simulate a process whose clock is wrong. The clock returns
 * nanoseconds.
 */
export function stampBy(clock: () => bigint): void {
  now = clock;
}

/**
 * Writes the history of one process to a file. The method `tell` writes a line before it returns, so that the
 * line survives the death of the process.
 */
export class Recorder {
  readonly #who: string;
  #file: number | undefined;
  readonly #receive: (event: ChaosEvent) => void;

  /** @param receive called with each event after the event was written */
  constructor(who: string, path: string, receive: (event: ChaosEvent) => void = () => undefined) {
    this.#who = who;
    this.#file = openSync(path, 'a');
    this.#receive = receive;
  }

  /**
   * Writes an event. Does nothing after `close`.
   * @param quiet whether to write the event without calling `receive`
   */
  tell(input: EventInput, { quiet = false }: { readonly quiet?: boolean } = {}): ChaosEvent {
    const event = { t: input.t ?? stampNow(), who: this.#who, ...input } as ChaosEvent;
    if (this.#file === undefined) return event;
    writeSync(this.#file, `${JSON.stringify(event)}\n`);
    if (!quiet) this.#receive(event);
    return event;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
