import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import { LiveBeliefs } from './live-beliefs.ts';

const STEPS: ReadonlySet<string> = new Set(['enqueue', 'queued', 'acquired']);
const ENDS: ReadonlySet<string> = new Set(['released', 'cancelled', 'revoked', 'failed']);
const CHUNK = 1 << 20;

/**
 * Counts holds, failures and violations in histories that workers still write. Each call of `readState` reads
 * what the workers have added since the last call.
 */
export class LiveFacts {
  holds = 0;
  /** For each error code, the number of attempts to get a lock that ended in that error. */
  readonly failures: Map<string, number> = new Map();
  readonly #directory: string;
  readonly #tails = new Map<string, Tail>();
  readonly #beliefs = new LiveBeliefs();
  readonly #open = new Map<string, Set<number>>();
  readonly #unjudged: ReadonlySet<string>;

  /**
   * Opens the histories in a directory.
   * @param unjudged queues in which several workers may hold at the same time, because an operator removes
   *   entries there, or because the locks are shared
   */
  constructor(directory: string, unjudged: readonly string[] = []) {
    this.#directory = directory;
    this.#unjudged = new Set(unjudged);
  }

  /**
   * Number of violations found so far; see `LiveBeliefs` for what is counted. The checker finds all
   * violations at the end of the run.
   */
  get violations(): number {
    return this.#beliefs.violations;
  }

  readState(): void {
    for (const name of readdirSync(this.#directory)) {
      if (!name.endsWith('.jsonl')) continue;
      let tail = this.#tails.get(name);
      if (!tail) this.#tails.set(name, (tail = new Tail(join(this.#directory, name))));
      tail.read((event) => this.#take(event));
    }
  }

  /** Returns whether at least one of the given workers has an attempt to get a lock that has not ended. */
  isBusy(workers: readonly string[]): boolean {
    return workers.some((worker) => (this.#open.get(worker)?.size ?? 0) > 0);
  }

  close(): void {
    for (const tail of this.#tails.values()) tail.close();
  }

  #take(event: ChaosEvent): void {
    if (event.ev === 'killed') this.#open.delete(event.worker);
    if (!('n' in event)) return;
    if (!this.#unjudged.has(event.queue)) this.#beliefs.take(event);
    this.#follow(event);
    if (event.ev === 'acquired') this.holds += 1;
    if (event.ev === 'failed') this.failures.set(event.code, (this.failures.get(event.code) ?? 0) + 1);
  }

  #follow({ who, n, ev }: AttemptEvent): void {
    let open = this.#open.get(who);
    if (!open) this.#open.set(who, (open = new Set()));
    if (STEPS.has(ev)) open.add(n);
    if (ENDS.has(ev)) open.delete(n);
  }
}

/** Reads the complete lines of a history file that is still growing. */
class Tail {
  readonly #file: number;
  readonly #buffer = Buffer.alloc(CHUNK);
  #rest = '';

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  read(take: (event: ChaosEvent) => void): void {
    for (;;) {
      const length = readSync(this.#file, this.#buffer, 0, CHUNK, null);
      if (length === 0) return;
      // Decodes the history as Latin-1, although error messages in it may have other characters. These may be
      // garbled, because they are not used.
      const lines = (this.#rest + this.#buffer.toString('latin1', 0, length)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) take(JSON.parse(line) as ChaosEvent);
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
