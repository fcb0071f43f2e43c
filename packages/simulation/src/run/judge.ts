import { isExplained, type Circumstances } from './endings.ts';
import type { FactDetails, Fact } from './facts.ts';
import type { Rule } from './rule.ts';

/**
 * The rules whose violation makes a lock unsafe: they concern overlapping holds, the order of grants, fencing
 * tokens, writes to a protected resource, and holds after a steal.
 */
export const UNSAFE: ReadonlySet<Rule> = new Set<Rule>(['exclusive', 'order', 'tokens', 'guarded', 'taken']);

/** Records the events of a simulated run, and the first rule that was violated. */
export class Judge {
  readonly story: string[] = [];
  /** The events of the run, from which its picture is drawn. */
  readonly facts: Fact[] = [];
  /** The first rule that the run broke. `undefined` if it has kept all rules so far. */
  broken: Rule | undefined;
  /** Simulated time of the last event. */
  lastAt = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(line: string): void {
    this.lastAt = this.#now();
    const time = (this.#now() / 1_000).toFixed(3).padStart(8);
    this.story.push(`${time} ${line}`);
  }

  tell(action: FactDetails): void {
    this.facts.push({ atMs: this.#now(), ...action });
  }

  require(rule: Rule, kept: boolean, detail: () => string): void {
    if (kept) return;
    const reported = detail();
    this.note(`BROKEN ${rule}: ${reported}`);
    this.tell({ type: 'broken', rule, detail: reported });
    this.broken ??= rule;
  }

  /** Records that a wait ended with an error, and checks that the circumstances explain this error. */
  ended(who: string, error: unknown, around: Circumstances): void {
    const why = error instanceof Error ? error.message : String(error);
    this.note(`${who} gets nothing: ${why}`);
    this.tell({ type: 'gets nothing', who, why });
    this.require(
      'outcome',
      isExplained(error, around, this.facts),
      () => `${who} ends with ${String(error)}`,
    );
  }
}
