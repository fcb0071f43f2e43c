import { closeSync, openSync, writeSync } from 'node:fs';
import type { ChaosEvent } from './event.ts';

/** An event without what the recorder adds: who, and when unless the stamp was taken before. */
export type Told<E extends ChaosEvent = ChaosEvent> = E extends ChaosEvent
  ? Omit<E, 't' | 'who'> & { readonly t?: string }
  : never;

let now = (): bigint => process.hrtime.bigint();

/** Now, as all processes of the machine know it. */
export function stampNow(): string {
  return now().toString();
}

/** For a process whose own clock is wrong: stamps are taken from this one, in nanoseconds. */
export function stampBy(clock: () => bigint): void {
  now = clock;
}

/** One party's history: a line is in the file before `tell` returns, so that it survives the death of the process. */
export class Recorder {
  readonly #who: string;
  #file: number | undefined;
  readonly #hear: (event: ChaosEvent) => void;

  /** @param hear is told each event after it was written */
  constructor(who: string, path: string, hear: (event: ChaosEvent) => void = () => undefined) {
    this.#who = who;
    this.#file = openSync(path, 'a');
    this.#hear = hear;
  }

  /**
   * After `close` nothing is written any more.
   * @param quiet it is written, and nobody is told
   */
  tell(told: Told, { quiet = false }: { readonly quiet?: boolean } = {}): ChaosEvent {
    const event = { t: told.t ?? stampNow(), who: this.#who, ...told } as ChaosEvent;
    if (this.#file === undefined) return event;
    writeSync(this.#file, `${JSON.stringify(event)}\n`);
    if (!quiet) this.#hear(event);
    return event;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
