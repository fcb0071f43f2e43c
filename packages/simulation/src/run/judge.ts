import { isExplained, type Circumstances } from './endings.ts';
import type { FactDetails, Fact } from './facts.ts';

/** Rules that hold in every run. */
export const RULES = {
  exclusive: 'nobody believes in a hold while another one that conflicts with it begins',
  order:
    'a hold begins when nothing that conflicts with it is ahead in the store, by create revision, but what a session has left to another entry of its own',
  tokens: 'tokens grow with every grant that conflicts with an earlier one',
  guarded:
    'of the writes that are guarded by the entries of holds, none of an earlier hold is accepted after one of a later hold',
  told: 'whose entry was removed by somebody learns it within the time to live',
  taken:
    'once a later hold of another session has begun, a session hands on what was taken from it for a moment at most',
  time: 'a hold begins with the time that was asked for',
  view: 'who looks at a queue sees it as it was, and when nothing happens any more as it is',
  progress: 'once the trouble is over, everybody gets an answer',
  outcome:
    'a wait ends with a hold, or with an error that is typed and that something in the run is the reason for',
  agreed:
    'a slot is done once, a round begins and ends with all its members, and a latch opens after the last count',
  'nothing left': 'no key, lease, stream, call or timer is left over',
  'nothing lost': 'no error is thrown to nobody',
  'no storm': 'no client sends more than so many requests in a second',
} as const;

export type Rule = keyof typeof RULES;

/** Rules whose violation lets two clients work at a time, in the wrong order or with the wrong tokens. */
export const UNSAFE: ReadonlySet<Rule> = new Set<Rule>(['exclusive', 'order', 'tokens', 'guarded', 'taken']);

/** Records events and violations. */
export class Judge {
  readonly story: string[] = [];
  /** Facts of the run without their texts. */
  readonly facts: Fact[] = [];
  /** The first rule that was broken. */
  broken: Rule | undefined;
  /** Time of the last event. */
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

  tell(deed: FactDetails): void {
    this.facts.push({ atMs: this.#now(), ...deed });
  }

  require(rule: Rule, kept: boolean, detail: () => string): void {
    if (kept) return;
    const told = detail();
    this.note(`BROKEN ${rule}: ${told}`);
    this.tell({ type: 'broken', rule, detail: told });
    this.broken ??= rule;
  }

  /** Records the error that ended a wait without a hold. */
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
