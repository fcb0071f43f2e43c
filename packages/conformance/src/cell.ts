import type { Backend, Register, Registers } from '@queuelock/core/backend';
import { lacks } from './lacks.ts';
import type { Stage } from './stage.ts';

/** A register of the store, as one connection reads and writes it. */
export class Cell {
  readonly #stage: Stage;
  readonly #registers: Registers;
  readonly #queue: string;
  readonly #kind: string;

  constructor(stage: Stage, { registers }: Backend, place: { queue?: string; kind?: string } = {}) {
    this.#stage = stage;
    this.#registers = registers ?? lacks('Backend.registers');
    this.#queue = place.queue ?? stage.queue;
    this.#kind = place.kind ?? 'conformance';
  }

  read(): Promise<Register | undefined> {
    return this.#stage.board.within('a register is read', this.#registers.read(this.#queue, this.#kind));
  }

  async text(): Promise<string | undefined> {
    return (await this.read())?.text;
  }

  /**
   * Writes the text if the register still has the version of `was`, an earlier result of `read`. Resolves
   * with whether the text was written.
   */
  write(text: string | undefined, was: Register | undefined): Promise<boolean> {
    const change = { text, was: was?.version };
    const written = this.#registers.write(this.#queue, this.#kind, change);
    return this.#stage.board.within('a register is written', written);
  }

  /** Writes the text whatever the register contains. For tests with a single writer. */
  async put(text: string | undefined): Promise<void> {
    if (!(await this.write(text, await this.read()))) throw new Error('the only writer was refused');
  }

  /** Starts to observe the register. */
  watch(): CellWatch {
    return new CellWatch(this.#stage, this.#registers.observe(this.#queue, this.#kind));
  }
}

/** The texts of a register that one observer has received so far. */
class CellWatch {
  readonly seen: (Register | undefined)[] = [];
  readonly #stage: Stage;
  readonly #subscription: { unsubscribe(): void };

  constructor(stage: Stage, register$: ReturnType<Registers['observe']>) {
    this.#stage = stage;
    this.#subscription = register$.subscribe({
      next: (register) => {
        this.seen.push(register);
        stage.board.note();
      },
      error: (error: unknown) => {
        stage.referee.blame(`observing a register failed: ${String(error)}`);
      },
      complete: () => {
        stage.referee.blame('observing a register completed');
      },
    });
  }

  /** Resolves when the newest text that the observer has received equals `text`. */
  async until(text: string | undefined): Promise<void> {
    const { board } = this.#stage;
    await board.until(`an observer of a register sees ${text ?? 'nothing in it'}`, () => {
      return this.seen.length > 0 && this.seen.at(-1)?.text === text;
    });
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}
