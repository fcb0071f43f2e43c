import type { LiveFacts } from './live.ts';
import type { Audience } from './perform.ts';
import type { Fault } from './schedule.ts';

const READ_INTERVAL_MS = 1_000;
const PLAIN_EVERY_MS = 10_000;

/**
 * Prints the progress of a run: on a terminal one line that is updated, otherwise a line every ten seconds.
 */
export class Progress implements Audience {
  readonly #live: LiveFacts;
  readonly #name: string;
  readonly #out: NodeJS.WriteStream;
  readonly #begun = performance.now();
  readonly #counts = new Map<string, number>();
  readonly #current = new Set<Fault>();
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(name: string, live: LiveFacts, out: NodeJS.WriteStream) {
    this.#live = live;
    this.#name = name;
    this.#out = out;
    const everyMs = out.isTTY ? READ_INTERVAL_MS : PLAIN_EVERY_MS;
    this.#timers = [
      setInterval(() => live.readState(), READ_INTERVAL_MS),
      setInterval(() => this.#tell(), everyMs),
    ];
  }

  begins(fault: Fault): void {
    this.#counts.set(fault.kind, (this.#counts.get(fault.kind) ?? 0) + 1);
    this.#current.add(fault);
  }

  ends(fault: Fault): void {
    this.#current.delete(fault);
  }

  /** Prints the progress of the run for the last time. On a terminal that line stays. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#live.readState();
    this.#tell();
    if (this.#out.isTTY) this.#out.write('\n');
  }

  #tell(): void {
    const { columns, isTTY } = this.#out;
    const line = this.#line();
    if (isTTY) this.#out.write(`\r\x1b[K${line.length < columns ? line : `${line.slice(0, columns - 2)}…`}`);
    else this.#out.write(`${line}\n`);
  }

  #line(): string {
    const { holds, violations } = this.#live;
    const faults = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    const kinds = [...this.#counts].sort(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${kind}`);
    const now = [...this.#current].map(({ kind }) => kind);
    return [
      `${this.#name} ${clock(performance.now() - this.#begun)}`,
      `${holds} holds`,
      `${violations} violations seen`,
      `${faults} faults`,
      `now: ${now.join(', ') || 'none'}`,
      kinds.join(', '),
    ].join(' | ');
  }
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
